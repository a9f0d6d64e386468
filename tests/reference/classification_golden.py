#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/classification.json: what scikit-learn 1.2 says of some classifications.

    pip install scikit-learn
    python3 tests/reference/classification_golden.py > tests/golden/classification.json
"""
import json

import numpy as np
from sklearn import metrics


def case(name, truth, probabilities):
    fpr, tpr, _ = metrics.roc_curve(truth, probabilities)
    return {
        "name": name,
        "truth": [int(t) for t in truth],
        "probabilities": [float(p) for p in probabilities],
        "roc_auc": metrics.roc_auc_score(truth, probabilities),
        "average_precision": metrics.average_precision_score(truth, probabilities),
        "accuracy": metrics.accuracy_score(truth, np.array(probabilities) > 0.5),
        "log_loss": metrics.log_loss(truth, probabilities, labels=[0, 1]),
        "roc": [fpr.tolist(), tpr.tolist()],
    }


def main():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    good = np.clip(0.5 * truth + 0.6 * rng.random(60), 0.01, 0.99).round(4)
    rare = np.zeros(60, int)
    rare[17] = 1
    cases = [
        case("good", truth, good),
        case("chance", truth, rng.random(60).round(4)),
        case("ties", truth, good.round(1)),
        case("one value", truth, np.full(60, 0.25)),
        case("inverted", truth, 1 - good),
        case("perfect", truth, np.where(truth == 1, 0.75, 0.125)),
        case("one positive", rare, rng.random(60).round(2)),
        case("certain and wrong", [0, 1, 1], [1.0, 0.0, 1.0]),
        case("two molecules", [1, 0], [0.5, 0.5]),
    ]
    print(json.dumps(cases, separators=(",", ":")))


main()
