// Notices for the session. Each is given once, however often it is seen.
import type { SurfaceNotice } from '../session/guard.ts';
import { visible } from '../text/visible.ts';
import type { Memory } from './guard-memory.ts';
import { clean } from './verdicts.ts';

const WAITING_MAX = 500;
const KNOWN_MAX = 5_000;
const NAME_MAX = 200;

export function addNotice({ options, notices, noticed }: Memory, notice: SurfaceNotice): void {
  const { name, detail } = notice;
  const shown = name === undefined ? undefined : visible(clean(name, options), NAME_MAX);
  const key = JSON.stringify([notice.what, shown, notice.reason_code, notice.enforced, detail]);
  if (noticed.has(key) || noticed.size >= KNOWN_MAX || notices.length >= WAITING_MAX) return;
  // A server goes up and down more than once, and each time is news.
  if (notice.what !== 'server_state') noticed.add(key);
  notices.push({ ...notice, name: shown, detail: clean(detail, options) });
}
