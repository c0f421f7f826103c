"""An ONNX model in TensorFlow, for results/frameworks.py: run by a Python that has tensorflow-cpu and onnx2tf, and nothing of rlgo's.

    tensorflow_runner.py MODEL.onnx FEEDS.npz --grappler yes|no [--threads N]

Converts the model (onnx2tf; images become channels-last, as TensorFlow's own are) to a folder MODEL.onnx.tensorflow, which the next call
takes, loads it on N threads, and prints "ready". Then answers each line of standard input: "outputs FILE" writes the first output to a
.npy file and prints "done"; "time N" runs the model N times and prints the time of one run in us: processor time where there is one
thread, else what passed. Ends with its input.
"""
import argparse
import contextlib
import os
import sys
import tempfile
import time

import numpy as np

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"


def converted(path):
    """The model as a folder that TensorFlow loads; it takes minutes where there are many weights."""
    done = path + ".tensorflow"
    if not os.path.isdir(done):
        with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
            convert(path, folder)
            os.rename(os.path.join(folder, "model"), done)
    return done


def convert(path, folder):
    # onnx2tf compares channels on images that it would download; random ones, in the folder where it runs, do.
    os.chdir(folder)
    np.save("calibration_image_sample_data_20x128x128x3_float32.npy", np.random.default_rng(0).random((20, 128, 128, 3), np.float32))
    with open(os.devnull, "w", encoding="utf-8") as silence, contextlib.redirect_stdout(silence):
        import onnx2tf

        onnx2tf.convert(input_onnx_file_path=path, output_folder_path="model", output_signaturedefs=True, not_use_onnxsim=True, non_verbose=True)
    os.chdir(os.path.dirname(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("feeds")
    parser.add_argument("--grappler", choices=("yes", "no"), required=True)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    feeds = list(np.load(args.feeds).values())
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(args.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    # As the saved function is instantiated, at its first run.
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": args.grappler == "no"})
    model = tf.saved_model.load(converted(os.path.abspath(args.model)))
    call = model.signatures["serving_default"]
    wanted = list(call.structured_input_signature[1].items())
    if len(wanted) != len(feeds):
        sys.exit(f"{len(wanted)} inputs, {len(feeds)} are given")
    inputs = {}
    for (name, spec), value in zip(wanted, feeds):
        if spec.shape.rank == 4 and list(spec.shape) != list(value.shape):
            value = value.transpose(0, 2, 3, 1)
        inputs[name] = tf.constant(value)
    clock = time.process_time_ns if args.threads == 1 else time.perf_counter_ns
    call(**inputs)
    print("ready", flush=True)
    for line in sys.stdin:
        what, _, argument = line.strip().partition(" ")
        if what == "outputs":
            np.save(argument, next(iter(call(**inputs).values())).numpy())
            print("done", flush=True)
            continue
        begin = clock()
        for _ in range(int(argument)):
            call(**inputs)
        print((clock() - begin) / 1000 / int(argument), flush=True)


if __name__ == "__main__":
    main()
