// The errors of approvals and grants; a part of the table in errors.ts.

export const APPROVAL_ERRORS = {
  SUB_APPROVAL_UNKNOWN: {
    title: 'There is no such approval or grant.',
    cause: 'No request or grant has this id, or a shortened id fits several of them.',
    fix: 'Look at `sub approvals` or `sub grants`, and give more of the id.',
  },
  SUB_APPROVAL_DAMAGED: {
    title: 'A file of approvals or grants is damaged.',
    cause:
      'It is not what was written: it was changed, copied, cut off, or others may write to it. Such a file approves nothing.',
    fix: 'Remove the file that the message names; whoever asked must ask again.',
  },
  SUB_APPROVAL_STORE: {
    title: 'Approvals cannot be read or kept.',
    cause: 'The operating system refused to read or write a file of approvals or grants.',
    fix: 'Check the disk, the folder and its permissions.',
  },
  SUB_INSIDE_RUN: {
    title: 'The command is for a person, not for an agent.',
    cause:
      'The command loosens, approves, reveals or erases something, and it was started inside a governed run or by a process that a run may have left behind.',
    fix: 'Run it in a terminal of your own, outside of the run.',
  },
  SUB_TERMINAL_NEEDED: {
    title: 'Only a person at a terminal can decide about a call.',
    cause:
      'The input of the command is not a terminal, or the process has no controlling terminal or runs in its background.',
    fix: 'Run it in a terminal of your own, or use the HTTP API with its token.',
  },
  SUB_GRANT_REFUSED: {
    title: 'The grant cannot be given.',
    cause:
      'It would not cover the call that was shown, or compares something that nobody has seen, or lasts too long.',
    fix: 'Do what the message says, or approve without a grant.',
  },
  SUB_HINT_UNKNOWN: {
    title: 'There is no such hint.',
    cause:
      'No call that was refused with a hint has this id, or a shortened id fits several of them.',
    fix: 'Look at `sub hints`, and give more of the id, or the run.',
  },
  SUB_HINT_PROMOTE: {
    title: 'The hint cannot become a rule.',
    cause:
      'Its run has ended, its rule asks nobody or is not in this policy, or the file cannot be changed without touching more than one rule.',
    fix: 'Do what the message says, or write the rule by hand.',
  },
} as const;
