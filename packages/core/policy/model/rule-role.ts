/** What a rule may do to a call that it matches. Everything beyond the folder of its kind goes by this. */
export type RuleRole =
  | 'allows' // it always lets the call pass
  | 'denies' // it always stops the call
  | 'asks' // it stops the call until a person approves
  | 'counts' // it stops the call when a limit is reached
  | 'tags'; // it adds risk classes and decides nothing
