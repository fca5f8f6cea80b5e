// Who may write to Steward on its channels, beside those that integrations.yaml names.
import { array, closed, integer, open, required, string } from '../shape/shape.ts';

const words = string({ lengthMin: 0 });
const LIST_MAX = 1_000;

export const PAIRED_SENDER = open({
  channel: required(words, 'The channel.'),
  sender: required(words, 'Their id there.'),
  name: required(words, 'What they call themselves there. Hostile text.'),
  paired_at_ms: required(integer({ min: 0 }), 'When.'),
});

export const PAIRED_SENDERS = open({
  senders: required(array(PAIRED_SENDER, { itemsMax: LIST_MAX }), 'The oldest first.'),
});

export const PAIRING_CODE = closed({
  code: required(string({ lengthMax: 32 }), 'What the sender was told.'),
});

export const UNPAIR = closed({
  channel: required(string({ lengthMax: 32 }), 'The channel.'),
  sender: required(string({ lengthMax: 512 }), 'Their id there.'),
});
