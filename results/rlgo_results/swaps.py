"""Dreams with true parts (results/swaps.csv, made of rlgo evaluate --swaps), and RLFlow's four questions, as tables."""
from .recorded import Missing, mean, revisions_of
from .tables import best_bold

FORMS = {"published": "RLFlow's", "own": "rlgo's own"}
PARTS = {"reward": "reward", "masks": "legal actions", "state": "next state"}
REALITY = "reward+masks+state"
SHORT, LONG = "10", "40"  # steps: of a dream that rlgo's own agent learns from, and the most that are compared


class Found:
    """Rows by what they are of; means over seeds."""

    def __init__(self, rows):
        if not rows:
            raise Missing("swaps.csv")
        self.rows = rows
        self.agents = [(f, g) for f in FORMS for g in dict.fromkeys(r["graph"] for r in rows) if any((r["form"], r["graph"]) == (f, g) for r in rows)]
        prefixes = sorted({int(r["prefix"]) for r in rows})
        self.places = [(a, p) for a in self.agents for p in prefixes if self.cells(a, p, REALITY, LONG)]

    def cells(self, agent, prefix, true, steps, column="return_percent"):
        return [float(r[column]) for r in self.rows
                if (r["form"], r["graph"]) == agent and int(r["prefix"]) == prefix and r["true"] == true and r["steps"] == steps]  # fmt: skip

    def value(self, *key):
        return mean(self.cells(*key))

    def gap(self, agent, prefix, true, steps):
        """(what these dreams promise beyond reality, its standard error), points of the initial cost."""
        return self.value(agent, prefix, true, steps) - self.value(agent, prefix, REALITY, steps), self.value(agent, prefix, true, steps, "gap_deviation_percent")

    def name(self, agent):
        return f"{agent[1]}, {FORMS[agent[0]]}"

    def made_of(self):
        starts, seeds = self.rows[0]["starts"], len({r["seed"] for r in self.rows})
        return f"{starts} episodes from each place, {seeds} seed{'s' if seeds > 1 else ''} of each agent; rlgo {revisions_of(self.rows)}"

    def recorded(self):
        return f"Recorded so far: {'; '.join(map(self.name, self.agents))}; {self.made_of()}"


def blamed(found, agent, prefix, steps):
    """The one part whose truth leaves the smallest gap, or nothing where the gap is within two standard errors."""
    gap, error = found.gap(agent, prefix, "none", steps)
    if abs(gap) <= 2 * error:
        return None
    return min(PARTS, key=lambda part: abs(found.gap(agent, prefix, part, steps)[0]))


def closes(found, agent, prefix, part, steps):
    """Whether a true part takes at least half of a gap away that chance does not explain."""
    gap, error = found.gap(agent, prefix, "none", steps)
    return abs(gap) > 2 * error and abs(found.gap(agent, prefix, part, steps)[0]) <= abs(gap) / 2


def gaps(rows):
    """Promise less reality, with one part true at a time."""
    found = Found(rows)
    lines = ["| agent, steps | reality, % | dream less reality, points | true reward | true legal actions | true next state |", "|---|" + "---|" * 5]
    for agent in found.agents:
        for steps in (SHORT, LONG):
            cells = ["{:+.2f} +- {:.2f}".format(*found.gap(agent, 0, true, steps)) for true in ("none", *PARTS)]
            best = blamed(found, agent, 0, steps)
            cells = [f"**{cell}**" if true == best else cell for true, cell in zip(("none", *PARTS), cells, strict=True)]
            lines.append(f"| {found.name(agent)}, {steps} | {found.value(agent, 0, REALITY, steps):.2f} | {' | '.join(cells)} |")
    return [*lines, "", f"From the unmodified graph; returns in percent of its cost, +- a standard error of the mean difference. A gap nearer to 0 is better. Bold: the part that leaves the smallest gap; "
            f"none where two standard errors explain it. {found.made_of()}."]  # fmt: skip


def apart(rows):
    """How far a dream's states are from the real ones, by random rewrites before it."""
    found = Found(rows)
    lines = ["| agent | random rewrites before | actions that reality does not offer, % | counts wrong, % | latent is off by |", "|---|" + "---|" * 4]
    for agent, prefix in found.places:
        fraction = [100 * found.value(agent, prefix, "none", LONG, column) for column in ("illegal_fraction", "counts_wrong_fraction")]
        lines.append(f"| {found.name(agent)} | {prefix} | {fraction[0]:.1f} | {fraction[1]:.1f} | {found.value(agent, prefix, 'none', LONG, 'latent_distance'):.2f} |")
    return [*lines, "", "Dreams of 40 steps with no part true, next to the real environment that takes the same actions. A latent is off by 1.4 from an unrelated state. Lower is better in the last three columns."]


def unseen(rows):
    """What controllers reach from states that they have not seen."""
    found = Found(rows)
    lines = ["| agent | random rewrites before | cost there, % | after 40 steps of the agent, % | after 40 random steps, % | as the dream promises, % |", "|---|" + "---|" * 5]
    for agent, prefix in found.places:
        before = found.value(agent, prefix, REALITY, LONG, "before_percent")
        ends = [-before - found.value(agent, prefix, true, LONG) for true in (REALITY, "random play", "none")]
        ends = [f"{end:+.2f}" for end in ends]
        lines.append(f"| {found.name(agent)} | {prefix} | {0.0 - before:+.2f} | {' | '.join([*best_bold(ends[:2]), ends[2]])} |")
    return [*lines, "", f"Change of cost to the unmodified graph; lower is better, the better of agent and random steps is bold. {found.made_of()}."]


def verdict(good, of):
    return "yes" if good == of else "in part" if good else "no"


def first(found, _):
    """Dynamics: at most a tenth of the counts wrong, and no more illegal actions than that."""
    fractions = {a: [found.value(a, 0, "none", LONG, c) for c in ("counts_wrong_fraction", "illegal_fraction")] for a in found.agents}
    text = "; ".join(f"{found.name(a)}: {100 * wrong:.1f} % of counts wrong, {100 * illegal:.1f} % of actions illegal" for a, (wrong, illegal) in fractions.items())
    return verdict(sum(max(v) <= 0.1 for v in fractions.values()), len(fractions)), f"in dreams of 40 steps, {text}"


def second(found, _):
    """Unseen states: better than random play by two standard errors, behind each prefix but none."""
    places = [(a, p) for a, p in found.places if p > 0]
    if not places:
        return "not recorded", "no episode began elsewhere"
    gains = {k: (found.value(*k, REALITY, LONG) - found.value(*k, "random play", LONG), found.value(*k, "random play", LONG, "gap_deviation_percent")) for k in places}
    good = sum(gain > 2 * error for gain, error in gains.values())
    return verdict(good, len(places)), f"after 40 steps ahead of random play by {min(g for g, _ in gains.values()):.2f} to {max(g for g, _ in gains.values()):.2f} points; beyond chance at {good} of {len(places)} places"


def third(found, promises):
    """Rewards: a true reward would change the promise by less than the promise is off, and correlation."""
    known = {form: [float(r["reward_correlation"]) for r in promises if r["run"].partition("-")[0] == form and r["clip"] == "none" and r["steps"] == "1"] for form in ("before", "after")}
    guilty = [a for a in found.agents if closes(found, a, 0, "reward", LONG)]
    text = "; ".join(f"{name} {min(v):.2f} to {max(v):.2f}" for name, v in (("before the repairs", known["before"]), ("rlgo's own agent", known["after"])) if v)
    return verdict(len(found.agents) - len(guilty), len(found.agents)), f"one step: correlation {text}; a true reward closes at least half of the gap of {len(guilty)} of {len(found.agents)} dreams"


def fourth(found, _):
    """Trained in the dream, better than random play in reality from the unmodified graph."""
    gains = {a: (found.value(a, 0, REALITY, LONG) - found.value(a, 0, "random play", LONG), found.value(a, 0, "random play", LONG, "gap_deviation_percent")) for a in found.agents}
    good = sum(gain > 2 * error for gain, error in gains.values())
    text = "; ".join(f"{found.name(a)} {-found.value(a, 0, REALITY, LONG):+.2f} % (at random {-found.value(a, 0, 'random play', LONG):+.2f}; ahead by {gain:.2f} +- {error:.2f} points)" for a, (gain, error) in gains.items())
    return verdict(good, len(gains)), f"change of cost in 40 real steps: {text}"


QUESTIONS = {"Can a model learn what rewrites do?": first, "Do policies carry over to states of the graph that they have not met?": second,
             "Does the model predict rewards well from the latent state?": third, "Do agents that were trained in a dream work in the real environment?": fourth}  # fmt: skip


def questions(rows, promises):
    found = Found(rows)
    lines = ["| | question | answer | recorded |", "|---|---|---|---|"]
    for number, (question, answer) in enumerate(QUESTIONS.items(), 1):
        lines.append(f"| {number} | {question} | **{' | '.join(answer(found, promises)).replace(' | ', '** | ', 1)} |")
    return [*lines, "", f"{found.recorded()}."]


EXPLANATIONS = {"Rewards are predicted badly": "reward", "Next states are predicted that do not exist": "state", "Legal actions are predicted badly, so dream and reality part": "masks"}


def explanations(rows):
    """Each of RLFlow's explanations of the gap, judged by the true part that it names."""
    found = Found(rows)
    lines = ["| | explanation | holds | does the true part close at least half of the gap? |", "|---|---|---|---|"]
    wide = [a for a in found.agents if blamed(found, a, 0, LONG)]
    for number, (text, part) in enumerate(EXPLANATIONS.items(), 1):
        closed = [a for a in wide if closes(found, a, 0, part, LONG)]
        gone = {a: 100 - 100 * abs(found.gap(a, 0, part, LONG)[0] / found.gap(a, 0, "none", LONG)[0]) for a in wide}
        named = "".join(f"; {found.name(a)}: closes {percent:.0f} %" for a, percent in gone.items())
        lines.append(f"| {number} | {text} | {verdict(len(closed), len(wide)) if wide else 'no gap'} | true {PARTS[part]}: {len(closed)} of {len(wide)} dreams{named} |")
    return [*lines, "", f"Dreams of 40 steps whose gap is more than two standard errors: {len(wide)} of {len(found.agents)}. {found.recorded()}."]
