// The first search of a process takes several times as long as the next: patterns are compiled, and so is the code that
// runs them. The first turn, which has a limit of its own, must not be the one that pays for it.
import { ERROR_CODES, errorFix, errorTitle, type Failure, isFailure } from '@subluminal/contracts';
import type { Inspection, TurnInspector } from '../inspect/index.ts';
import { coreWires } from '../turns/index.ts';

/** Has it look through a request with some pages of ordinary text. */
export function warmInspector(inspector: TurnInspector): Inspection | Failure {
  const messages = ERROR_CODES.map((code) => {
    return { role: 'user', content: `${code}: ${errorTitle(code)} ${errorFix(code)}` };
  });
  const body = Buffer.from(JSON.stringify({ model: 'none', messages }));
  const outline = coreWires.outline('anthropic_messages', body);
  return isFailure(outline) ? outline : inspector.inspect({ body, outline });
}
