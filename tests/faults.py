"""Plant faults, one at a time, and see a test fail: `make faults`.

Each fault is one wrong line that a reviewer could miss. A test beside it must notice. The list is
checked by ``test_faults.py``: every line that a fault replaces is there, exactly once.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"


@dataclass(frozen=True)
class Fault:
    """A line, what it becomes, and the test that must notice."""

    name: str
    file: str
    line: str
    becomes: str
    test: str


FAULTS = [
    Fault("contract: harm is not turned", "base.py",
          "return np.where(values == 0, AT_THRESHOLD, -values)", "return values",
          "tests/test_decision.py::test_harm_is_the_mirror_image_of_good"),
    Fault("contract: exactly at the threshold", "patch/expressions.py",
          "at_the_edge = nw.when(p == patch.threshold).then(r <= 0.0)",
          "at_the_edge = nw.when(p == patch.threshold).then(r > 0.0)",
          "tests/test_decision.py::test_harm_is_the_mirror_image_of_good"),
    Fault("contract: a graph forgets harm", "engines/onnx.py",
          'as_f = "Identity" if patch.decision.favourable else "Not"', 'as_f = "Identity"',
          "tests/test_conformance.py::test_every_door_decides_alike[favourable 0]"),
    Fault("contract: weights are not counted", "data/splits.py",
          "        sample_weight=rows.sample_weight,", "        sample_weight=None,",
          "tests/test_decision.py::test_weights_count_in_everything_that_is_counted"),
    Fault("contract: NaN is a label", "measure/labels.py",
          "known = known & (column <= LARGEST)", "known = known & ~column.is_null()",
          "tests/test_decision.py::test_a_label_that_is_no_number_is_a_gap_in_every_engine"),
    Fault("contract: people get each other's values", "_checks.py",
          "not first.equals(second)", "not len(first)",
          "tests/test_decision.py::test_people_do_not_get_each_others_values"),
    Fault("fingerprint: few people are in it", "identity/fingerprint.py",
          "values[i] is not None and size[i] >= MIN_PEOPLE", "values[i] is not None",
          "tests/identity/test_compare.py::test_categories_of_few_people_are_left_out"),
    Fault("fingerprint: a turned score passes", "identity/figures.py",
          "(mean - p) * away", "abs(p) * abs(away)",
          "tests/test_wrong_inputs.py::test_a_turned_score_is_refused"),
    Fault("fingerprint: another model passes", "identity/compare.py",
          "if value is None or value <= notice:", "if value is None or value <= 2 * refuse:",
          "tests/test_wrong_inputs.py::test_a_retrained_model_is_noticed_by_made_up_people"),
    Fault("reasons: lines that pushed the other way", "patch/expressions.py",
          "pushed = (approved & (points < 0))", "pushed = (approved & (points > 0))",
          "tests/patch/test_card.py::test_the_reason_in_a_table_is_the_lines_that_pushed"),
    Fault("confidence counts for a change", "patch/model.py",
          "short = needed + self.confidence(f, X)", "short = needed - self.confidence(f, X)",
          "tests/patch/test_card.py::test_nobody_leapfrogs"),
    Fault("locked rows change", "patch/model.py",
          "return np.where(self.locks(X), float(NEVER), points)", "return points",
          "tests/card/test_locked.py::test_nobody_who_is_locked_changes"),
    Fault("locked rows change in an engine", "patch/expressions.py",
          "        if lock is None\n", "        if True\n",
          "tests/card/test_locked.py::test_counts_are_the_same_in_an_engine"),
    Fault("nobody gives up a place", "choose/swaps.py",
          "wanted = np.maximum(up + w[approved].sum() - places * w.sum(), 0.0)",
          "wanted = 0.0 * up",
          "tests/card/test_swaps.py::test_places_are_kept_as_nearly_as_points_can"),
    Fault("the order of the rows breaks ties", "patch/batch.py",
          "    rank = nw.col(_ONE).cum_sum().over(order_by=[_TIER, _STANDING, _FAR, _HASH])\n"
          "    ordered = ordered.with_columns(rank.alias(_RANK))\n    # false",
          "    rank = nw.col(_ONE).cum_sum().over(order_by=[_TIER, _FAR, _HASH])\n"
          "    ordered = ordered.with_columns(rank.alias(_RANK))\n    # false",
          "tests/card/test_swaps.py::test_a_batch_has_exactly_so_many_in_every_engine"),
    Fault("places cost nothing", "measure/fewest_together.py",
          "program.within(dict.fromkeys(range(len(size)), 1.0), {}, low, high)", "pass",
          "tests/measure/test_limited_places.py::test_the_fewest_swaps_are_those_of_brute_force"),
    Fault("small strata are compared", "measure/comparisons.py",
          "own = table.in_stratum(stratum).pooled().large(ENOUGH)",
          "own = table.in_stratum(stratum).pooled()",
          "tests/measure/test_comparisons.py::test_small_and_empty_strata_are_left_out"),
    Fault("every group has its own mix", "measure/comparisons.py",
          "return np.where(own > 0, everybody / own, 0.0)", "return np.where(own > 0, 1.0, 0.0)",
          "tests/measure/test_comparisons.py::test_standardised_every_group_has_everybodys_mix"),
    Fault("a second look decides", "patch/apply.py",
          "nw.when(known).then(decided != nw.col(REFERRED)).alias(DECISION),",
          "nw.when(known).then(decided).alias(DECISION),",
          "tests/card/test_second_look.py::test_the_same_list_everywhere"),
    Fault("groups are drawn against their chances", "probable.py",
          "cases.append(((u < below) & whole, group))",
          "cases.append(((u > below) & whole, group))",
          "tests/measure/test_probable.py::test_groups_are_drawn_alike_in_every_engine"),
    Fault("who is drawn certifies", "data/splits.py",
          "place[gone[: len(others)]], place[others] = place[others], 2", "pass",
          "tests/measure/test_probable.py::test_who_is_known_certifies_and_then_nothing_is_assumed"),
    Fault("weights are judged as people", "data/engine_splits.py",
          "return frame.filter(at < weight * (PRIME / heaviest)).to_native()",
          "return frame.to_native()",
          "tests/life/test_weights.py::test_a_draw_by_weights_is_the_population_they_stand_for"),
    Fault("a wrong approval costs a refusal", "choose/costs.py",
          "return np.where(approved, self.approve, self.refuse)",
          "return np.where(approved, self.refuse, self.approve)",
          "tests/choose/test_what_decisions_cost.py::test_a_dial_costs_what_its_decisions_do"),
    Fault("an edge belongs to the band below", "sensitive.py",
          'side="right"', 'side="left"',
          "tests/measure/test_bands.py::test_engines_cut_alike_and_nobody_is_left_out"),
    Fault("the push has no side", "patch/model.py",
          "return np.where(f > 0, unit, -unit)", "return np.where(f > 0, -unit, -unit)",
          "tests/patch/test_card.py::test_one_segment_goes_one_way_and_most_scores_stay"),
    Fault("people with exactly the points needed do not change", "patch/model.py",
          "HALF = 0.5", "HALF = 0.0",
          "tests/patch/test_card.py::test_exactly_the_points_needed_are_enough"),
    Fault("points from a card that has seen the person", "card/crossfit.py",
          "np.flatnonzero(folds != fold)", "np.arange(len(folds))",
          "tests/card/test_learning.py::test_nobodys_points_come_from_scores_that_have_seen_them"),
    Fault("points against f's order", "card/scorecard.py",
          "bounds.append((0.0, np.inf))", "bounds.append((-np.inf, np.inf))",
          "tests/card/test_learning.py::test_points_never_rank_two_values_against_f"),
    Fault("an order turned round that nobody is told of", "report/sense.py",
          "if against.any():", "if against.all():",
          "tests/report/test_flags.py::test_an_order_that_is_turned_round"),
    Fault("groups mixed when outcomes are compared", "report/sense.py",
          "table = counts.by(feature).known()\n        yield from",
          "table = counts.by()\n        yield from",
          "tests/report/test_flags.py::test_groups_are_not_mixed_when_outcomes_are_compared"),
    Fault("bins that f does not rank are ranked", "card/order.py",
          "if found and low[k] < top - SAME:", "if found and low[k] < low[k]:",
          "tests/card/test_learning.py::test_bins_whose_answers_overlap_have_the_same_points"),
    Fault("f's order the wrong way round", "card/order.py",
          "np.lexsort((high[known], low[known]))", "np.lexsort((high[known], low[known]))[::-1]",
          "tests/card/test_learning.py::test_f_is_asked_where_it_can_be"),
    Fault("a column that must rise may fall", "card/scorecard.py",
          "range(field.pieces))[::way])", "range(field.pieces)))",
          "tests/card/test_learning.py::test_a_column_never_counts_the_wrong_way"),
    Fault("a copy of the score is a column", "card/left_out.py",
          "[0, 1])) > COPY:", "[0, 1])) > 2 * COPY:",
          "tests/card/test_learning.py::test_copies_of_the_score_and_names_of_people_are_no_columns"),
    Fault("only_between is not kept", "card/confidence.py",
          "+ [(limit, None)]", "+ [(limit, 130)]",
          "tests/card/test_card_fits.py::test_only_close_calls_change_where_that_is_asked"),
    Fault("the proxy limit is not kept", "card/candidates.py",
          "while used and telling(used) > most:", "while used and telling(used) > 2 * most:",
          "tests/card/test_card_fits.py::test_how_well_the_points_tell_a_group_is_limited"),
    Fault("figures of the folds are shown as the card's own", "choose/frontier.py",
          "return traced(learned.final, traced(learned.ratios))",
          "return traced(learned.ratios, traced(learned.final))",
          "tests/card/test_card_fits.py::test_the_ladder_is_one_scorecard_and_every_figure_is_its_own"),
    Fault("extra changes without a limit", "choose/choice.py",
          "far = first.change_rate[k] > most or", "far =",
          "tests/card/test_card_fits.py::test_extra_changes_for_the_certificate_are_limited"),
    Fault("weights that go with the hits are Kish's", "measure/rates.py",
          "inside = (p > 0) & (p < 1) & (spread > 0)", "inside = p > 2",
          "tests/measure/test_certificate_tests.py::test_weights_that_go_with_the_decision_keep_the_level"),
    Fault("a limit that is not the test's own", "measure/certificate_tests.py",
          "(tested(t) >= enough).all()", "(tested(t) >= 0.9 * enough).all()",
          "tests/measure/test_certificate_tests.py::test_certified_is_the_same_as_a_limit_inside"),
    Fault("choosing on rows that f was trained on", "card/candidates.py",
          "folds[~judged] = -1  # always learned from", "judged[:] = True",
          "tests/card/test_card_fits.py::test_rows_that_f_was_trained_on_are_told_and_found_out"),
    Fault("a gap is certified by its best pair of groups", "measure/certificate_tests.py",
          "worst = min(z)", "worst = max(z)",
          "tests/measure/test_certificate_tests.py::test_gaps_and_their_sums_keep_their_level"),
    Fault("certifying on the selection rows, in memory", "data/splits.py",
          "FreshRows(counted(last))",
          "FreshRows(counted(rows.take(second)))",
          "tests/data/test_splits.py::test_whoever_certifies_was_neither_learned_from_nor_chosen_on"),
    Fault("certifying on the selection rows, in an engine", "data/engine_splits.py",
          "nw.col(PLACE) >= self._edges[2]",
          "(nw.col(PLACE) >= self._edges[1]) & (nw.col(PLACE) < self._edges[2])",
          "tests/data/test_engine_splits.py::test_an_engine_certifies_on_the_last_split_and_no_other"),
    Fault("tau for tau^2 in the score test", "measure/certificate_tests.py",
          "tau**2 * p2", "tau * p2",
          "tests/measure/test_certificate_tests.py::test_the_score_test_is_koopmans"),
    Fault("limits at 3c - 2 for 2c - 1", "measure/certificate_tests.py",
          "2 * confidence - 1", "3 * confidence - 2",
          "tests/measure/test_certificate_tests.py::"
          "test_each_end_of_a_verdicts_interval_is_a_limit_at_the_certificates_confidence"),
    Fault("refuting a ratio by the point estimate", "measure/certificate_tests.py",
          "if (z <= little).any():", "if (z < 0).any():",
          "tests/measure/test_certificate_tests.py::"
          "test_a_value_on_the_wrong_side_of_a_limit_does_not_refute_it"),
    Fault("refuting a ceiling by the point estimate", "measure/certificate_tests.py",
          "if estimate.low > limit:", "if estimate.value > limit:",
          "tests/measure/test_certificate_tests.py::test_the_limit_itself_is_kept"),
    Fault("refuting without Bonferroni", "measure/certificate_tests.py",
          "(1 - confidence) / len(pairs)", "(1 - confidence)",
          "tests/measure/test_certificate_tests.py::"
          "test_refuting_one_of_many_pairs_is_corrected_for_their_number"),
    Fault("pairs without Bonferroni", "measure/intervals.py",
          "1 - (1 - confidence) / len(i)", "confidence",
          "tests/measure/test_intervals.py::"
          "test_over_several_groups_each_pair_has_its_share_of_the_error"),
    Fault("prefer ignored among candidates", "choose/choice.py",
          "for name in target.prefer)", 'for name in ("changes", "accuracy"))',
          "tests/choose/test_choice.py::test_preferring_accuracy_looks_at_every_strength"),
    Fault("prefer ignored along a dial", "choose/choice.py",
          'if target.prefer[0] == "changes" else', "if True else",
          "tests/choose/test_choice.py::test_preferring_accuracy_looks_at_every_strength"),
    Fault("bound by min for max", "choose/choice.py",
          "most = max(known,", "most = min(known,",
          "tests/choose/test_choice.py::"
          "test_the_bound_for_several_requirements_is_the_largest_of_theirs"),
    Fault("inside moving ceilings outwards", "measure/metric.py",
          "return max(limit - margin, 0.1 * limit)", "return max(limit + margin, 0.1 * limit)",
          "tests/test_every_metric.py::test_its_range_and_its_limits"),
    Fault("blind slack ignored", "measure/blind.py",
          " - slack * float(w.sum())", "",
          "tests/measure/test_blind.py::"
          "test_with_s_known_and_slack_it_is_the_bound_for_a_rate_difference"),
    Fault("blind weights ignored", "measure/blind.py",
          "w = np.ones(len(q)) if weight is None else weight", "w = np.ones(len(q))",
          "tests/measure/test_blind.py::test_a_weight_of_three_is_three_people"),
    Fault("no cross-fitting of P(S|x)", "choose/group_probability.py",
          "        z = np.concatenate([Z[fold != k], more_Z])\n"
          "        known = np.concatenate([label[fold != k], more_label])",
          "        z = np.concatenate([Z, more_Z])\n"
          "        known = np.concatenate([label, more_label])",
          "tests/choose/test_choice.py::"
          "test_nobodys_group_probability_comes_from_a_model_that_has_seen_them"),
    Fault("dial.at on the wrong side of a tie", "choose/dial.py",
          'side="left"', 'side="right"',
          "tests/choose/test_dial.py::"
          "test_a_strength_on_the_edge_belongs_to_the_stretch_before"),
    Fault("pareto any for all", "choose/frontier.py",
          "(rows >= row).all(1)", "(rows >= row).any(1)",
          "tests/choose/test_choice.py::"
          "test_candidates_that_none_beats_are_those_of_the_definition"),
    Fault("gap taking the nearest minimum", "measure/intervals.py",
          "float(nearest.max())", "float(nearest.min())",
          "tests/measure/test_intervals.py::"
          "test_over_several_groups_each_pair_has_its_share_of_the_error"),
    Fault("DM's error not halved", "measure/metric.py",
          "each = 1 - (1 - confidence) / len(self.rates)", "each = confidence",
          "tests/measure/test_metrics.py::test_each_gap_of_dm_has_half_of_the_error"),
    Fault("demote_only trained as promote_only", "commod/train.py",
          "untouched(direction, (f_logit > 0).numpy())",
          'untouched("promote_only", (f_logit > 0).numpy())',
          "tests/commod/test_train.py::test_a_patch_that_may_only_demote_is_trained_to_demote"),
    Fault("the concepts' gate removed", "commod/train.py",
          "gated = concepts * (not late)", "gated = concepts",
          "tests/commod/test_train.py::test_sparsity_and_diversity_wait_for_their_gate"),
    Fault("Fisher without f_logit^2", "commod/candidates.py",
          "cost = cost * f_logit**2 * p * (1 - p)", "cost = cost * p * (1 - p)",
          "tests/commod/test_candidates.py::"
          "test_fishers_weight_is_the_local_divergence_of_f_and_g"),
    Fault("merge losing other", "patch/parts.py",
          "other=one.other + w * two.other", "other=one.other",
          "tests/patch/test_patch.py::test_what_unlisted_levels_weigh_adds_up_over_concepts"),
    Fault("> for >= in the encoder's levels", "patch/encoding.py",
          "size[i] >= MIN_PEOPLE", "size[i] > MIN_PEOPLE",
          "tests/patch/test_patch.py::test_what_ten_people_have_gets_a_weight_of_its_own"),
    Fault("> for >= in the encoder's numbers", "patch/encoding.py",
          "_unlike(z) >= min(", "_unlike(z) > min(",
          "tests/patch/test_patch.py::test_what_ten_people_have_gets_a_weight_of_its_own"),
    *(
        Fault(f"the floor of ten at {floor}: {what}", "floor.py",
              "MIN_PEOPLE = 10", f"MIN_PEOPLE = {floor}", test)
        for floor in (9, 11)
        for what, test in {
            "audit": "tests/report/test_audit.py::"
                     "test_ten_people_are_shown_and_compared_nine_are_not",
            "encoder": "tests/patch/test_patch.py::"
                       "test_what_ten_people_have_gets_a_weight_of_its_own",
            "change tree": "tests/explain/test_explain.py::"
                           "test_no_leaf_and_no_level_is_of_fewer_than_ten_people",
            "suppression": "tests/disclose/test_disclose.py::"
                           "test_nine_people_are_hidden_ten_are_not",
        }.items()
    ),
    Fault("no complementary suppression", "disclose/suppress.py",
          "self.published[name] = self.published[name].with_(round(value))", "pass",
          "tests/disclose/test_disclose.py::test_every_end_of_every_secret_is_possible"),
    Fault("a hidden group's cells are no secret", "disclose/protected.py",
          "secrets.append(Secret(marked, 1 if mask.all() else 0, MIN_PEOPLE - 1))",
          "secrets.append(Secret(marked, 0, 0))",
          "tests/attack/test_disclosure.py::test_no_audit_tells_a_hidden_count"),
    Fault("a dial that tells every step", "report/dial_section.py",
          "tens = _exactly if table.small_shown else _by_tens", "tens = _exactly",
          "tests/report/test_review.py::test_the_dial_tells_no_step_of_a_person"),
    Fault("a frontier that tells the last person", "choose/in_tens.py",
          "return ends_of(hits, among, known=known, exact=self.exact)",
          "return ends_of(hits, among, known=known, exact=True)",
          "tests/attack/test_frontier.py::test_nobody_of_a_small_group_is_told"),
    Fault("a worked case of few people", "report/worked_section.py",
          "return bool(min(people.sum(), told) >= ENOUGH)", "return bool(people.sum())",
          "tests/report/test_committee.py::test_a_group_of_few_movers_has_no_case"),
    Fault("another group's confidence in a worked case", "report/worked_section.py",
          "total = round(total - sure if denied else total + sure)", "total = round(total)",
          "tests/report/test_committee.py::test_a_worked_case_adds_up_and_is_decided_so"),
    Fault("a patch that reverses most decisions", "choose/choice.py",
          "met = met[dial.change_rate[met] <= target.most_changes]", "met = met[:]",
          "tests/choose/test_target.py::test_what_reverses_most_decisions_is_no_patch"),
    Fault("an explorer that shows the chosen card beside another's figures", "report/explorer.py",
          "return patch.changes_at, cards.setdefault(lines, len(cards))",
          "return patch.changes_at, cards.setdefault(lines, 0)",
          "tests/report/test_explorer.py::"
          "test_every_point_has_the_lines_of_its_own_scorecard"),
    Fault("a dropped alternative is not missed", "cli/alternatives.py",
          'if name != "config.yaml" and _text(Path(again) / name) != _text(folder / name):',
          'if name == "plan.json" and _text(Path(again) / name) != _text(folder / name):',
          "tests/life/test_alternatives.py::test_a_fraud_is_found"),
    Fault("a notice with the base model's reasons for a patch's decision", "explain/notices.py",
          'Notice(row, "patch", by_patch[row])', 'Notice(row, "patch", own[row])',
          "tests/explain/test_notices.py::test_who_is_declined_has_the_reasons_of_who_declined"),
    Fault("disclosure: nobody of few has a label", "disclose/protected.py",
          "secrets.append(Secret(marked, 0, 1))", "pass",
          "tests/attack/test_disclosure.py::test_that_none_of_few_has_a_label_is_not_told"),
    Fault("a case named by its last column", "report/case_section.py",
          "value = column.category_words.get(category, category)",
          "name = value = column.category_words.get(category, category)",
          "tests/report/test_committee.py::test_a_typical_case_is_named_by_its_line"),
    Fault("disclosure: few who are not among the hits", "disclose/tens.py",
          "return last / among, 1.0", "return k / among, 1.0",
          "tests/disclose/test_floor.py::test_no_share_by_tens_leaves_fewer_than_ten_numbers"),
    Fault("an explorer that counts groups of few", "choose/in_tens.py",
          "groups = [i for i, size in enumerate(sizes) if size >= MIN_PEOPLE]",
          "groups = list(range(len(sizes)))",
          "tests/report/test_explorer.py::test_groups_below_ten_are_nowhere_in_it"),
    Fault("a part that narrows what is told", "report/coarse.py",
          "if isinstance(changed, int) or changed.at_least <= least:", "if True:",
          "tests/report/test_beside.py::test_a_part_of_a_range"),
    Fault("what is hidden is called fine", "report/flags.py",
          "if columns and not reveals and not untold and", "if columns and not reveals and",
          "tests/report/test_flags.py::test_what_is_hidden_is_not_called_fine"),
    Fault("an explorer that prefers errors", "report/templates/explore.js",
          "now.price * middle(point.changed) - middle(point.accuracy)",
          "now.price * middle(point.changed) + middle(point.accuracy)",
          "tests/report/test_explorer.py::test_budget_feature_direction_preference"),
    Fault("a missed limit is too few data", "measure/certificate_tests.py",
          'return Verdict.INCONCLUSIVE if kept else Verdict.NOT_MET', "return Verdict.INCONCLUSIVE",
          "tests/measure/test_certificate_tests.py::"
          "test_a_value_on_the_wrong_side_of_a_limit_does_not_refute_it"),
    Fault("a changed file of a run is read", "cli/run_folder.py",
          "if _hash(path) != known[name]:", "if False:",
          "tests/attack/test_runs.py::test_another_score_column_in_the_configuration_is_refused"),
    Fault("trust from a file", "cli/config.py",
          'if entries.pop("trust_model", None):', 'if entries.get("trust_model", None):',
          "tests/attack/test_runs.py::test_trust_comes_from_the_flag_of_this_very_call"),
    Fault("other files than it was begun with", "engines/partitions.py",
          "if old != plan:", "if False:",
          "tests/attack/test_runs.py::"
          "test_a_file_that_was_added_before_a_restart_mixes_nobody_up"),
    Fault("the last of two keys counts", "files/strict_json.py",
          "if len(mapping) < len(pairs):", "if False:",
          "tests/attack/test_files.py::test_what_could_be_understood_in_two_ways_is_refused"),
    Fault("an empty text is another level", "patch/terms.py",
          'weights.setdefault("", part.missing)', "pass",
          "tests/attack/test_every_engine.py::test_an_empty_text_is_a_gap_everywhere"),
    Fault("life: a bet inside the claim", "measure/evidence.py",
          "return np.asarray(q + np.sign(a) * share * room)", "return np.asarray(q)",
          "tests/measure/test_evidence.py::test_the_edge_is_never_inside_the_claim"),
    Fault("life: the present is bet on with itself", "measure/evidence.py",
          "until = np.concatenate([zero, total[..., :-1, :]], axis=-2)", "until = total",
          "tests/measure/test_evidence.py::test_the_product_over_two_periods_is_fair_too"),
    Fault("life: beginnings weigh too much", "measure/evidence.py",
          "SINCE_LATER = 0.3 *", "SINCE_LATER = 3.0 *",
          "tests/measure/test_evidence.py::test_weights_of_stakes_and_beginnings_sum_to_one"),
    Fault("life: the known are taken as they come", "measure/sampled.py",
          "most = min(int(share * everybody[f, g] + 1e-9), int(cell.sum()))",
          "most = int(cell.sum())",
          "tests/measure/test_over_time.py::"
          "test_people_are_known_equally_often_whatever_was_decided"),
    Fault("life: kept by each pair in some month", "measure/evidence.py",
          "least = np.where(about[..., None], bets, np.inf).min(-2, initial=np.inf)",
          "least = np.where(about[..., None], bets, -np.inf).max(-2, initial=-np.inf)",
          "tests/measure/test_evidence.py::"
          "test_one_broken_claim_a_period_is_enough_against_all"),
    Fault("life: an interval that is rounded inwards", "measure/over_time.py",
          "limits[max(first - 1, 0)], limits[min(last + 1, len(limits) - 1)]",
          "limits[first], limits[last]",
          "tests/measure/test_over_time.py::test_the_interval_is_rounded_outwards_and_a_person_"
          "of_a_new_group_takes_nothing_back"),
    Fault("life: labels of the approved stand for all", "measure/sampled.py",
          "if lacking.any():", "if lacking.all():",
          "tests/measure/test_over_time.py::test_labels_of_the_approved_alone_are_refused"),
    Fault("life: a month counts twice", "life/history.py",
          "if same and not period.replaces and (", "if same and False and (",
          "tests/life/test_monitor.py::test_labels_come_late_and_are_added_once"),
    Fault("life: a tiny group is named", "measure/over_time.py",
          "SMALL_GROUP if too_few(size) else name", "name if too_few(size) else name",
          "tests/life/test_monitor.py::test_the_history_holds_counts_and_the_page_no_small_ones"),
    Fault("ledger: a chain that nobody follows", "life/ledger.py",
          "if entry.after != (entries[-1].hash if entries else START):", "if not entry.after:",
          "tests/life/test_ledger.py::test_what_is_changed_or_dropped_is_found"),
    Fault("ledger: an end that may be cut off", "life/ledger.py",
          "return 1 <= entries <= len(known) and", "return True or",
          "tests/life/test_ledger.py::test_what_is_changed_or_dropped_is_found"),
    Fault("refit: churn of the unknown", "choose/dial.py",
          "kept=equal(as_previous, before >= 0),", "kept=equal(as_previous, before >= -1),",
          "tests/life/test_refit.py::test_churn_along_a_dial_is_what_counting_gives"),
    Fault("refit: the previous card is no candidate", "card/learner.py",
          "if task.previous is None or task.previous.card is None:",
          "if True:",
          "tests/life/test_refit.py::test_the_old_card_is_a_candidate_beside_new_ones"),
    Fault("engine: a dial's stop takes who is on its edge", "choose/dial.py",
          'place = np.searchsorted(strengths, at, side="right")',
          'place = np.searchsorted(strengths, at, side="left")',
          "tests/choose/test_dial.py::"
          "test_a_dial_that_stands_at_some_strengths_is_the_whole_one_there"),
    Fault("engine: patches of other lines share points", "data/engine_splits.py",
          'kind = f"{patch.card is None} ', 'kind = f"',
          "tests/data/test_engine_splits.py::test_patches_of_a_ladder_share_no_more_than_they_have"),
    Fault("engine: bits of another patch", "measure/counting.py",
          "return None if key is None else int(key) >> i & 1",
          "return None if key is None else int(key) & 1",
          "tests/data/test_engine_splits.py::test_patches_of_a_ladder_share_no_more_than_they_have"),
    Fault("one: a tie is no change", "patch/decide.py",
          "approved & (ratio <= 0.0), ",
          "approved & (ratio < 0.0), ",
          "tests/patch/test_one.py"),
    Fault("deploy: S in the view of decisions", "engines/deploy.py",
          "keep = tuple(dict.fromkeys([*([place.key] if place.key else []), *place.keep]))",
          "keep = tuple(dict.fromkeys([*([place.key] if place.key else []), *place.keep, "
          "*(audited.sensitive if audited else ())]))",
          "tests/engines/test_deploy.py"),
    Fault("deploy: the way back is the patch", "engines/deploy.py",
          "return patch.with_strength(0.0)", "return patch",
          "tests/engines/test_deploy.py"),
    Fault("deploy: data run as a template", "engines/dbt.py",
          'text = f"{{% raw %}}{text}{{% endraw %}}"', "pass",
          "tests/engines/test_deploy.py"),
    Fault("deploy: MySQL compares without case", "engines/dialects.py",
          'if dialect == "mysql":', 'if dialect == "never":',
          "tests/engines/test_engines.py"),
    Fault("an import that runs up", "patched.py",
          "        return scores_of(",
          "        from fairpatch.commod.estimator import Commod\n\n        return scores_of(",
          "tests/test_package.py::test_no_import_runs_in_a_circle"),
    Fault("choice: churn costs nothing", "choose/choice.py",
          " + target.price_per_churn * churn", "",
          "tests/choose/test_costs.py::test_changes_and_churn_cost_what_the_target_says"),
    Fault("choice: a margin that makes ceilings easier", "choose/choice.py",
          "return values - error if r.metric.at_least else values + error", "return values - error",
          "tests/choose/test_costs.py::"
          "test_a_margin_makes_a_limit_harder_whichever_side_it_is_on"),
    Fault("choice: the error of a ratio is that of a gap", "measure/metric.py",
          'scale = np.maximum(rate_there, 1e-12) ** 2 if self.how == "ratio" else 1.0',
          "scale = 1.0",
          "tests/choose/test_costs.py::test_the_standard_error_is_that_of_drawing_again"),
    Fault("choice: advice about the best feature", "choose/not_reached.py",
          "worst = values.min(0) if asked.metric.at_least else values.max(0)",
          "worst = values.max(0) if asked.metric.at_least else values.min(0)",
          "tests/choose/test_costs.py::test_advice_is_about_the_feature_that_is_worst"),
    Fault("certificate: people needed are rounded down", "choose/certificate.py",
          "return -(-self.people_needed // step) * step",
          "return self.people_needed // step * step",
          "tests/measure/test_people_needed.py::test_two_digits_upwards"),
    Fault("certificate: one person too few", "measure/certificate_tests.py",
          "needed = int(np.ceil(people * ((enough + ndtri(POWER)) / z.min()) ** 2))",
          "needed = int(people * ((enough + ndtri(POWER)) / z.min()) ** 2)",
          "tests/measure/test_people_needed.py::"
          "test_the_number_is_the_one_that_gives_eighty_percent_power"),
    *(
        Fault(f"flags: {word} is no protected word", "report/flags.py", f'"{word}", ', "",
              "tests/report/test_flags.py::"
              "test_words_of_protected_columns_are_known_by_how_they_begin")
        for word in ("disab", "religio", "immigra")
    ),
    Fault("flags: pregnan is no protected word", "report/flags.py", '"pregnan"', '"nothing"',
          "tests/report/test_flags.py::"
          "test_words_of_protected_columns_are_known_by_how_they_begin"),
    Fault("flags: the order of the groups is not looked at", "report/flags.py",
          "        *_turned(effect),\n", "",
          "tests/report/test_flags.py::"
          "test_a_group_that_was_behind_and_is_now_ahead_is_flagged"),
    Fault("headline: the wrong end of the interval", "report/headline.py",
          'side, end = ("at least", figure.low) if at_least else ("at most", figure.high)',
          'side, end = ("at least", figure.low)',
          "tests/report/test_flags.py::"
          "test_the_light_names_the_end_of_the_interval_that_the_test_looks_at"),
    Fault("verdict: not met is no failure", "verdict.py",
          "return self in (Verdict.NOT_MET, ", "return self in (",
          "tests/life/test_outputs.py::"
          "test_every_verdict_means_one_thing_to_every_machine"),
    Fault("verdict: not met exits with 0", "verdict.py",
          "Verdict.NOT_MET: 3,", "Verdict.NOT_MET: 0,",
          "tests/life/test_outputs.py::"
          "test_every_verdict_means_one_thing_to_every_machine"),
    Fault("cli: a certificate that is required is not", "cli/fit.py",
          "leave(verdict, certified=require_certificate)", "leave(verdict, certified=False)",
          "tests/cli/test_cli.py::test_a_certificate_may_be_required"),
    Fault("cli: the run's own rows certify it", "cli/certify.py",
          "if tables.fingerprint(options.data) == manifest(folder).data_sha256:", "if False:",
          "tests/cli/test_cli.py::test_the_runs_own_rows_certify_nothing"),
    Fault("life: doubt does not count", "measure/over_time.py",
          "doubt = last < 0 or self.against[last] > np.log(DOUBT)", "doubt = last < 0",
          "tests/measure/test_over_time.py::"
          "test_what_held_for_years_is_not_certified_while_the_last_months_speak_against_it"),
    Fault("life: disagreement counts twice", "life/monitor.py",
          "apart = float(abs(made - expected).sum()) / 2 / max(people, 1)",
          "apart = float(abs(made - expected).sum()) / max(people, 1)",
          "tests/life/test_monitor.py::test_decisions_that_were_made_are_counted_and_tried"),
    Fault("disclosure: all digits of a weighted rate", "disclose/protected.py",
          "return estimate if self.whole or not self._weighted else _two_digits(estimate)",
          "return estimate",
          "tests/disclose/test_disclose.py::"
          "test_weighted_rates_have_two_digits_beside_suppressed_counts"),
    Fault("disclosure: the lower end of tens is too high", "disclose/tens.py",
          "return k / (n + MIN_PEOPLE - 1), min(1.0, (k + MIN_PEOPLE - 1) / n)",
          "return k / n, min(1.0, (k + MIN_PEOPLE - 1) / n)",
          "tests/report/test_beside.py::"
          "test_tens_show_a_share_by_the_widest_ends_that_they_leave"),
    Fault("sql: another noise than the certificate's", "engines/target_sql.py",
          "noise = p1 * (1 - p1) / (n1 + 2) + p2 * (1 - p2) / (n2 + 2)",
          "noise = p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2",
          "tests/engines/test_target_sql.py::"
          "test_the_query_turns_exactly_where_the_certificate_does"),
    Fault("sql: whole codes are declared as text", "engines/sql.py",
          'return "int64"', 'return "string"',
          "tests/engines/test_engines.py::"
          "test_a_column_of_codes_is_declared_with_the_type_of_its_categories"),
    Fault("front: a wrapper's threshold is not read", "base.py",
          "threshold = own_threshold(f)\n", "threshold = None\n",
          "tests/identity/test_agreement.py::test_a_wrapper_keeps_its_threshold"),
    Fault("front: predict is not asked", "identity/agreement.py",
          "    if not differs:\n", "    if True:\n",
          "tests/identity/test_agreement.py::"
          "test_a_model_that_decides_otherwise_is_refused_with_the_threshold_that_would_agree"),
    Fault("patch: declined at r = 0 are approved", "patch/decide.py",
          "declined & (ratio < 0.0)", "declined & (ratio <= 0.0)",
          "tests/patch/test_decide.py::test_everything_that_decides_keeps_to_the_table"),
    Fault("counts: strata are lost in a sum", "measure/counts.py",
          "wider[np.ix_(rows, columns)] = table", "wider[rows] = table",
          "tests/measure/test_axes.py::"
          "test_parts_merge_to_the_whole_though_neither_has_every_group_or_stratum"),
]  # fmt: skip


def noticed(fault: Fault) -> bool:
    """Whether the test fails with the fault planted in a copy; it must pass without."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        path = copy / "fairpatch" / fault.file
        text = path.read_text(encoding="utf-8")
        if text.count(fault.line) != 1:
            raise ValueError(f"{fault.name}: the line is {text.count(fault.line)} times there")
        path.write_text(text.replace(fault.line, fault.becomes), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", fault.test],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stdout + done.stderr)
        return done.returncode == 1


def main(names: list[str]) -> int:
    """Plant all faults, or those whose names have one of these words in them."""
    chosen = [f for f in FAULTS if not names or any(n in f.name for n in names)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(noticed, chosen))
    for fault, seen in zip(chosen, found, strict=True):
        sys.stdout.write(f"{'noticed' if seen else 'MISSED '}  {fault.name}  ({fault.test})\n")
    sys.stdout.write(f"{sum(found)} of {len(found)} noticed\n")
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
