"""A Minari dataset of results/analyse export-minari recovers its environment: the same actions get the same rewards there."""

import pathlib
import subprocess
import sys
import tempfile

import _package

sys.path.insert(0, str(_package.SOURCE / "tests" / "results"))
import _tiny
import numpy as np


def main():
    with tempfile.TemporaryDirectory() as folder:
        run = _tiny.train(pathlib.Path(folder) / "runs", "mf", epochs=1)
        status, _, err = _tiny.analyse("export-minari", run, "--folder", pathlib.Path(folder) / "minari")
        assert status == 0, err
        import minari

        dataset = minari.load_dataset("rlgo/toy_conv-model-free-v0")
        env = dataset.recover_environment()
        assert env.action_space == dataset.action_space, (env.action_space, dataset.action_space)
        for episode in dataset.iterate_episodes():
            env.reset()
            rewards = [env.step(action)[1] for action in episode.actions]
            np.testing.assert_allclose(rewards, episode.rewards, rtol=1e-5, atol=1e-5)
        print(f"{dataset.total_episodes} episodes played again")


if __name__ == "__main__":
    main()
