// Who decides, and where: said by a command, or by the server of the page.
import { oneOf, required, string } from '../shape/shape.ts';

export const DECIDER = {
  person: required(
    string({ lengthMax: 256 }),
    'Who decides, by the name of the user of this machine.',
  ),
  channel: required(oneOf('terminal', 'web'), 'Where they are.'),
};
