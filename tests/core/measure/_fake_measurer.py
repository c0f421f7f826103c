"""A measurer that times nothing: a model takes as many microseconds as its file has bytes, and run k of it k more.

Arguments name what goes wrong: crash=TEXT, hang=TEXT, fail=TEXT (with models whose file name or contents hold TEXT), blame
(says which model it is busy with), garbage=N (the N-th answer is none), old, rude, missing, few, nan. slow=TEXT: such models
take three times as long; log=FILE: a line for each request, "measure 48"; outputs: answers them, every model two outputs;
differs=TEXT: such models answer others; pause=S: so many seconds pass in each comparison; assumes=NAME: that input gets 16000
in the first one, and the log shows later what requests say it is; late: a request with a limit has used it up when it arrives; clocks=1,3: times a reference, and takes so many times as long in the
first request, the second, ...; short: it shows one time of the reference too few; stuck=KIND: requests of that kind ("compare")
 are not answered; starts=FILE: counts processes in that file; once: only the first two of them greet; moody=TEXT: such models
 take three times as long in every second one; layout=NAME: a member of each result, 0.25.
"""
import json
import struct
import sys
import time

options = dict(a.split("=", 1) if "=" in a else (a, "") for a in sys.argv[1:])
answers = 0
starts = 0
if "starts" in options:
    with open(options["starts"], "a+") as file:
        file.write("x")
        file.seek(0)
        starts = len(file.read())
clocks = [float(p) for p in options.get("clocks", "1").split(",")]


def send(**message):
    global answers
    answers += 1
    if options.get("garbage") == str(answers):
        print("Segmentation fault in my head", flush=True)
    else:
        print(json.dumps(message), flush=True)


def holds(path, wrong):
    with open(path, "rb") as file:
        content = file.read()
    return wrong in options and (options[wrong] in path or options[wrong].encode() in content)


def one(request, index, path):
    if "blame" in options:
        print(json.dumps({"id": request["id"], "at": index}), flush=True)
    if holds(path, "crash"):
        sys.stderr.write("this model is too much for me\n")
        sys.exit(3)
    if holds(path, "hang"):
        time.sleep(60)
    if holds(path, "fail"):
        return {"error": "unsupported operator"}
    size = len(open(path, "rb").read()) * (3 if holds(path, "slow") or starts > 0 and starts % 2 == 0 and holds(path, "moody") else 1)
    samples = [float(size + k) for k in range(request["least_repeats"] if "late" in options and "seconds" in request else request["repeats"])]
    return {"samples_us": samples[1:] if "few" in options and index == 1 else samples}


def outputs(request, index, path):
    if holds(path, "fail"):
        return {"error": "unsupported operator"}
    reported = []
    for name, shape, values in (("y", [1, 2], [1.5, 8.0 if holds(path, "differs") else 5.0 if "rounds" in options and request["plain"] else 4.0]), ("z", [], [float(request["seed"])])):
        file = f"{request['folder']}/{index}-{name}"
        with open(file, "wb") as out:
            out.write(struct.pack(f"<{len(values)}d", *values))
        reported.append({"name": name, "dtype": "float32", "shape": shape, "file": file})
    return {"outputs": reported}


for line in sys.stdin:
    request = json.loads(line)
    if "log" in options:
        with open(options["log"], "a") as log:
            log.write(f"{request['do']} {len(request.get('models', []))}{' ' + json.dumps(request['values']) if 'values' in request else ''}\n")
    if request["do"] == "quit":
        break
    if options.get("stuck") == request["do"]:
        time.sleep(60)
    if request["do"] == "hello":
        if "missing" in options:
            send(id=request["id"], error="ImportError: no runtime; install the PyPI package fake")
        elif "rude" in options or "once" in options and starts > 2:
            send(id=request["id"], hello="you")
        elif "deaf" in options:
            sys.exit(4)
        else:
            send(id=request["id"], runtime="fake", version="1.0", device="paper", threads=request["threads"], outputs="outputs" in options, reference="clocks" in options)
        continue
    if request["do"] == "outputs":
        send(id=request["id"], results=[outputs(request, i, path) for i, path in enumerate(request["models"])])
        continue
    results = [one(request, i, path) for i, path in enumerate(request["models"])]
    if request["do"] == "compare":
        time.sleep(float(options.get("pause", 0)))
        if "assumes" in options and options["assumes"] not in request.get("values", {}):
            for result in results:
                result["assumed"] = {options["assumes"]: [16000.0]}
    if "reference" in request:
        clock = clocks.pop(0) if len(clocks) > 1 else clocks[0]
        for result in results:
            if "samples_us" in result:
                result["samples_us"] = [us * clock for us in result["samples_us"]]
                result["reference_us"] = [100 * clock] * (len(result["samples_us"]) - ("short" in options))
    if "layout" in options:  # the name of a member, and the old one of measurers up to 0.2.0
        for result in results:
            result[options["layout"]] = 0.25
    if "nan" in options:
        results[0] = {"samples_us": [-1.0]}
    send(id=request["id"], results=results)
