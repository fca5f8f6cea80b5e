import type { ApiCall } from '@subluminal/contracts';
import { plainLine } from '../../parts/plain-text.ts';

/** `server/tool`, or `provider/model`. */
export function callName(call: ApiCall): string {
  return plainLine(
    call.kind === 'turn'
      ? `${call.provider}/${call.model}`
      : `${call.server_name}/${call.tool_name}`,
  );
}
