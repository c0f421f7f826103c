"""Files of boosted trees (core/cost/boosted_trees.h): written from LightGBM's, read back, and asked."""
import numpy as np


class BoostedTrees:
    """A file's `device`, `features` (names) and `trees`: a leaf is a number, a branch (feature's number, threshold, at most, more)."""

    def __init__(self, text):
        self.device, self.features, self.trees = "", [], []
        for line in text.splitlines():
            word, _, rest = line.partition(" ")
            if word == "device":
                self.device = rest
            elif word == "features":
                self.features = rest.split()
            elif word == "tree":
                self.trees.append(_branch(iter(rest.split())))

    def predict(self, x, names):
        """x: [groups, names]. What the leaves add up to, [groups]; a feature that `names` lacks is 0."""
        place = {name: k for k, name in enumerate(names)}
        known = np.stack([x[:, place[name]] if name in place else np.zeros(len(x)) for name in self.features], axis=1)
        out = np.zeros(len(x))
        for tree in self.trees:
            _add(out, tree, known, np.arange(len(x)))
        return out


def _branch(words):
    word = next(words)
    if word.startswith("="):
        return float(word[1:])
    return int(word), float(next(words)), _branch(words), _branch(words)


def _add(out, tree, x, which):
    if isinstance(tree, float):
        out[which] += tree
        return
    feature, threshold, at_most, more = tree
    small = x[which, feature] <= threshold
    _add(out, at_most, x, which[small])
    _add(out, more, x, which[~small])


def lines_of(model, names):
    """Lines `features`, `tree` of a LightGBM model over features of these names."""
    used = [k for k, count in enumerate(model.feature_importance()) if count > 0]
    number = {k: str(i) for i, k in enumerate(used)}

    def words(node):
        if "leaf_value" in node:
            return [f"={node['leaf_value']:.4g}"]
        return [number[node["split_feature"]], f"{node['threshold']:.6g}", *words(node["left_child"]), *words(node["right_child"])]

    yield "features " + " ".join(names[k] for k in used)
    for tree in model.dump_model()["tree_info"]:
        yield "tree " + " ".join(words(tree["tree_structure"]))
