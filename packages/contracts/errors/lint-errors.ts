// What lint has to say about a bundle that is valid; a part of the table in errors.ts.

export const LINT_ERRORS = {
  SUB_LINT_UNREACHABLE: {
    title: 'A rule can never decide.',
    cause: 'An earlier rule decides every call that this one matches.',
    fix: 'Move the rule up, narrow the earlier one, or remove it.',
  },
  SUB_LINT_EXEMPTED: {
    title: 'An allow exempts every call of a later rule.',
    cause:
      'Rules run from top to bottom and the first decisive one wins, so a limit or an approval below such an allow never acts.',
    fix: 'Move the rule above the allow, unless the exemption is meant.',
  },
  SUB_LINT_UNTAGGED: {
    title: 'A rule matches a risk class that nothing adds.',
    cause: 'No tag rule adds the class, so the rule applies only when the call brings it along.',
    fix: 'Add a tag rule for the class, or correct its name.',
  },
  SUB_LINT_TAG_ORDER: {
    title: 'A risk class is added after it is needed.',
    cause:
      'The tag rule stands below the rule that matches its class, so the class is not there yet.',
    fix: 'Move the tag rule above the rules that need it.',
  },
  SUB_LINT_UNANCHORED: {
    title: 'An allow has a regular expression that is not anchored.',
    cause:
      'Without `^` and `$` it matches anywhere in the name, so `read` also allows `thread_delete`.',
    fix: 'Anchor the expression as `^(…)$`, or use a glob.',
  },
  SUB_LINT_NO_HINT: {
    title: 'A hint has no text.',
    cause:
      'The rule answers with REJECT_WITH_HINT but says nothing that would help the agent to do better.',
    fix: 'Add `hint_text`.',
  },
  SUB_LINT_DISABLED: {
    title: 'A rule is disabled.',
    cause: 'It has `enabled: false` and does nothing.',
    fix: 'Enable the rule, or remove it.',
  },
  SUB_LINT_FAIL_OPEN: {
    title: 'Errors let calls pass.',
    cause:
      'With `decision_on_error: ALLOW`, in the modes that refuse, a rule that cannot be evaluated counts as not matching, so the call may pass.',
    fix: 'Use `BLOCK`, unless availability matters more than control.',
  },
  SUB_LINT_SELF_PROTECTION: {
    title: 'Self-protection is off.',
    cause:
      'With `self_protection: off` a call may read or change the policy, SUB_HOME, governed client configs and the ledger.',
    fix: 'Leave the field out, unless something else keeps agents away from these files.',
  },
  SUB_LINT_APPROVAL_MODE: {
    title: 'A person is to be asked in a mode that asks nobody.',
    cause:
      'A person is asked only in the mode `control`: `guardrails` blocks at once, `observe` only records.',
    fix: 'Set `mode: control`, or write what should happen instead of asking.',
  },
  SUB_LINT_OBSERVE: {
    title: 'The policy only observes.',
    cause: 'In the mode `observe` every call passes; decisions are recorded, not enforced.',
    fix: 'Set `mode: guardrails` or `mode: control` when the policy should act.',
  },
  SUB_LINT_NEVER_PASSES: {
    title: 'A limit lets no call pass.',
    cause: 'The limit is zero, or one call costs more than the whole limit.',
    fix: 'Raise the limit, or write a deny rule if that is what is meant.',
  },
  SUB_LINT_BROAD_DEDUPE: {
    title: 'A dedupe rule covers reads.',
    cause: 'It matches calls of any kind, and repeated reads are normal.',
    fix: 'Match the tools or risk classes that write.',
  },
  SUB_LINT_READ_UNTAGGED: {
    title: 'Nothing is tagged as a read.',
    cause: '`fail_open_read_tools` is on, but no tag rule adds `read_like`, so it has no effect.',
    fix: 'Tag the read tools, or turn the option off.',
  },
  SUB_LINT_SELECTOR_PATTERN: {
    title: 'A selector looks like a pattern.',
    cause:
      'Selectors are compared exactly, so a value with `*`, `?`, `[` or `{` in it matches only that very text.',
    fix: 'Write out each value, or leave the selector out to match all.',
  },
  SUB_LINT_HIDDEN_TEXT: {
    title: 'A name or a pattern is not what it looks like.',
    cause:
      'It has an invisible character in it, or a Cyrillic or Greek letter that looks like a Latin one, so it matches another name than the one that is read.',
    fix: 'Type the name again, unless the tool or argument really has that character.',
  },
  SUB_LINT_EMPTY: {
    title: 'The policy has no rules.',
    cause: 'The list of rules is empty, so every call passes.',
    fix: 'Add a rule, or remove the policy.',
  },
  SUB_LINT_SUPPRESSION: {
    title: 'A suppression does nothing, or lasts too long.',
    cause:
      'It has expired, names a rule that does not exist, or silences a finding for more than a year.',
    fix: 'Remove it, correct the name, or give it an earlier `expires`.',
  },
  SUB_LINT_RULE_OF_TWO: {
    title: 'The rule of two can never hold anything back.',
    cause: 'Nothing in the section brings all three of what it counts into a run.',
    fix: 'List under `tools` what brings `private_data` and `egress_or_change`, and `untrusted_input` where every answer is trusted.',
  },
} as const;
