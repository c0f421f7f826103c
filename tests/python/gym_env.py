"""rlgo/Rewrite-v0: Gymnasium's own checks, masks, forks, vectors, wrappers, pictures."""

import re
import unittest
import warnings

import _package
import gymnasium
import numpy as np
import rlgo
import rlgo.gym
from gymnasium.utils.env_checker import check_env


def play(env, steps, seed=0):
    """Random legal actions; [(action, reward)], and the last observation."""
    env.reset(seed=seed)
    done, out, observation = False, [], None
    while not done and len(out) < steps:
        action = env.unwrapped.sample_legal()
        observation, reward, terminated, truncated, _ = env.step(action)
        done = terminated or truncated
        out.append((np.asarray(action).tolist(), reward))
    return out, observation


class Single(unittest.TestCase):
    def test_gymnasiums_checks(self):
        for arguments in ({}, {"action": "pair"}, {"reward": "R3", "graph": "toy_mlp"}, {"render_mode": "rgb_array"}, {"render_mode": "svg"}):
            env = gymnasium.make("rlgo/Rewrite-v0", **arguments)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.filterwarnings("ignore", ".*(unbounded|infinity|inf|precision|render).*")
                check_env(env.unwrapped, skip_render_check=arguments.get("render_mode") == "svg")

    def test_the_same_seed_plays_the_same(self):
        env = gymnasium.make("rlgo/Rewrite-v0", graph="toy_residual")
        first, second = play(env, 30, 5), play(env, 30, 5)
        self.assertEqual(first[0], second[0])
        np.testing.assert_equal(first[1], second[1])

    def test_rewards_add_up_to_what_was_saved_and_changes_show_them(self):
        env = gymnasium.make("rlgo/Rewrite-v0", graph="toy_attention", max_steps=20).unwrapped
        env.reset(seed=1)
        total = 0.0
        for _ in range(20):
            action = env.sample_legal()
            reported = env.candidates()[action][2] if action < len(env.candidates()) else 0.0
            _, reward, terminated, truncated, _ = env.step(action)
            self.assertAlmostEqual(reward, -reported, places=3)
            total += reward
            if terminated or truncated:
                break
        self.assertAlmostEqual(total, 100 * (1 - env.cost_us / env.initial_cost_us), places=3)
        self.assertAlmostEqual(env.cost_us, rlgo.cost("cpu").graph_cost(env.graph)["runtime_us"], places=6)

    def test_masks_are_what_is_legal(self):
        env = gymnasium.make("rlgo/Rewrite-v0").unwrapped
        observation, _ = env.reset(seed=0)
        mask = env.action_masks()
        np.testing.assert_array_equal(mask, observation["action_mask"] == 1)
        self.assertEqual(mask.sum(), len(env.candidates()) + 1)
        illegal = int(np.flatnonzero(~mask)[0])
        _, reward, _, _, info = env.step(illegal)
        self.assertEqual((reward, info["illegal_action"], env.trace), (0.0, True, []))
        with self.assertRaises(ValueError):
            strict = gymnasium.make("rlgo/Rewrite-v0", illegal="raise").unwrapped
            strict.reset()
            strict.step(illegal)

    def test_steps_that_are_illegal_end_the_episode_too(self):
        env = gymnasium.make("rlgo/Rewrite-v0", max_steps=3).unwrapped
        env.reset()
        self.assertEqual([env.step(-1)[3] for _ in range(3)], [False, False, True])
        with self.assertRaisesRegex(rlgo.Error, "call reset"):
            env.step(0)

    def test_pairs_and_flat_actions_do_the_same(self):
        flat = gymnasium.make("rlgo/Rewrite-v0").unwrapped
        pair = gymnasium.make("rlgo/Rewrite-v0", action="pair").unwrapped
        flat.reset()
        observation, _ = pair.reset()
        flat.step(0)
        pair.step(observation["candidates"][0, :2])
        self.assertEqual(flat.graph.hash, pair.graph.hash)
        self.assertTrue(pair.step((len(pair.rule_names), 7))[2])  # NO-OP

    def test_a_fork_goes_on_by_itself(self):
        env = gymnasium.make("rlgo/Rewrite-v0").unwrapped
        env.reset(seed=3)
        env.step(0)
        copy = env.fork()
        action = env.sample_legal()
        self.assertEqual(copy.sample_legal(), action)
        reported = env.step(0)
        self.assertEqual(len(copy.trace), 1)
        np.testing.assert_equal(copy.step(0)[0], reported[0])
        self.assertEqual(copy.graph.hash, env.graph.hash)

    def test_validate_applies_the_trace_again(self):
        env = gymnasium.make("rlgo/Rewrite-v0", graph="resnet18").unwrapped
        play(env, 8, 2)
        self.assertEqual(env.validate(), {"valid": True, "error": "", "steps": len(env.trace)})
        self.assertEqual(rlgo.rules.replay(env.rules, env.initial_graph, env.trace).hash, env.graph.hash)

    def test_a_room_that_is_too_small_is_reported(self):
        with self.assertRaisesRegex(rlgo.UsageError, "the unmodified graph is larger"):
            gymnasium.make("rlgo/Rewrite-v0", room=(2, 2, 5)).reset()
        env = gymnasium.make("rlgo/Rewrite-v0", graph="resnet18", room=(0, 0, 5)).unwrapped
        observation, info = env.reset()
        self.assertGreater(info["candidates_dropped"], 0)
        self.assertEqual(len({rule for rule, _, _ in env.candidates()}), 5)  # of as many rules as there is room for
        self.assertEqual(observation["action_mask"].sum(), 6)

    def test_wrong_arguments(self):
        for wrong in ({"reward": "R9"}, {"reward": "R4"}, {"action": "x"}, {"graph": "nosuch"}, {"cost": "zpu"}, {"max_steps": 0}, {"illegal": "x"}, {"weights": (1,)}):
            with self.assertRaises(rlgo.Error, msg=wrong):
                gymnasium.make("rlgo/Rewrite-v0", **wrong)

    def test_r4_pays_what_whole_graphs_take_less(self):
        env = gymnasium.make("rlgo/Rewrite-v0", graph="toy_conv", cost="onnxruntime", reward="R4", max_steps=4)
        paid = [reward for _, reward in play(env, 4)[0]]
        self.assertTrue(all(np.isfinite(paid)) and any(paid), paid)
        for reward in ("R4", "latency"):
            with self.assertRaisesRegex(rlgo.UsageError, f"reward {reward} times whole graphs; it goes with a cost that names a runtime"):
                gymnasium.make("rlgo/Rewrite-v0", cost="cpu", reward=reward)

    def test_latency_pays_what_is_shown(self):
        env = gymnasium.make("rlgo/Rewrite-v0", graph="toy_conv", cost="onnxruntime", reward="latency", max_steps=4)
        self.assertTrue(all(np.isfinite(reward) for _, reward in play(env, 4)[0]))

    def test_pictures(self):
        env = gymnasium.make("rlgo/Rewrite-v0", render_mode="svg")
        env.reset()
        env.step(0)
        self.assertIn("<svg", env.render())
        env = gymnasium.make("rlgo/Rewrite-v0", render_mode="rgb_array")
        env.reset()
        before = env.render()
        env.step(0)
        after = env.render()
        self.assertEqual((before.dtype, before.shape[2]), (np.uint8, 3))
        self.assertFalse(before.shape == after.shape and (before == after).all())


class Several(unittest.TestCase):
    def test_a_vector_does_what_single_environments_do(self):
        graphs = ["toy_residual", "toy_mlp", "toy_attention"]
        many = rlgo.gym.RewriteVectorEnv(num_envs=4, graph=graphs, threads=3, max_steps=6)
        single = [gymnasium.make("rlgo/Rewrite-v0", graph=graphs[k % 3], room=many.room, max_steps=6, disable_env_checker=True) for k in range(4)]
        observations, _ = many.reset(seed=1)
        for k, env in enumerate(single):
            one, _ = env.reset(seed=1)
            np.testing.assert_equal({name: array[k] for name, array in observations.items()}, one)
        ended = [False] * 4
        draws = np.random.default_rng(0)
        for _ in range(15):
            actions = np.array([draws.choice(np.flatnonzero(mask)) for mask in many.action_masks()])
            observations, rewards, terminated, truncated, _ = many.step(actions)
            for k, env in enumerate(single):
                one, reward, term, trunc, _ = (env.reset()[0], 0.0, False, False, {}) if ended[k] else env.step(actions[k])
                ended[k] = term or trunc
                np.testing.assert_equal({name: array[k] for name, array in observations.items()}, one)
                self.assertEqual((rewards[k], terminated[k], truncated[k]), (reward, term, trunc))

    def test_make_vec_takes_it_and_masks_some(self):
        many = gymnasium.make_vec("rlgo/Rewrite-v0", num_envs=3, graph="toy_mlp")
        first, _ = many.reset(seed=0)
        self.assertIn(first, many.observation_space)
        many.step(np.zeros(3, np.int64))
        again, _ = many.reset(options={"reset_mask": np.array([True, False, True])})
        np.testing.assert_equal(again["node_op"][0], first["node_op"][0])
        with self.assertRaises(rlgo.UsageError):
            many.step(np.zeros((3, 3), np.int64))

    def test_cycling_over_graphs(self):
        env = rlgo.gym.CycleGraphs(["toy_residual", "toy_mlp"], max_steps=4)
        seen = [env.reset(seed=0)] + [env.reset() for _ in range(3)]
        self.assertEqual([info["graph"] for _, info in seen], [0, 1, 0, 1])
        self.assertTrue(all(observation in env.observation_space for observation, _ in seen))
        self.assertEqual(env.action_masks().shape, (env.action_space.n,))

    def test_composite_actions(self):
        env = rlgo.gym.CompositeActions(gymnasium.make("rlgo/Rewrite-v0", graph="resnet18"), {"fuse": ["fold-conv-batch-norm", "fuse-conv-relu"]})
        observation, _ = env.reset(seed=0)
        self.assertIn(observation, env.observation_space)
        fuse = int(env.action_space.n) - 1
        self.assertTrue(env.action_masks()[fuse])
        _, reward, _, _, info = env.step(fuse)
        self.assertGreater(info["rewrites"], 1)
        self.assertAlmostEqual(reward, 100 * (1 - env.unwrapped.cost_us / env.unwrapped.initial_cost_us), places=3)
        self.assertFalse(env.action_masks()[fuse])

    def test_the_page_runs(self):
        """every line of Python in docs/gymnasium.md, on small graphs"""
        page = (_package.SOURCE / "docs/gymnasium.md").read_text(encoding="utf-8")
        code = "".join(re.findall(r"```python\n(.*?)```", page, re.S))
        for large in ("resnet50", "resnet18", "bert"):
            code = code.replace(f'"{large}"', '"toy_residual"')
        exec(code.replace('env.unwrapped.graph.save("rewritten.onnx")', ""), {})  # noqa: S102

    def test_the_graph_space(self):
        env = rlgo.gym.GraphObservation(gymnasium.make("rlgo/Rewrite-v0", graph="toy_mlp"))
        observation, _ = env.reset(seed=0)
        self.assertIn(observation, env.observation_space)
        self.assertEqual(observation["graph"].edge_links.max() + 1, observation["graph"].nodes.shape[0])


if __name__ == "__main__":
    unittest.main()
