// Notices that were not fetched yet. Each is given once in a session, however often it is seen.

import type { SurfaceNotice } from '../session/guard.ts';
import { visible } from '../text/visible.ts';
import { clean } from './verdicts.ts';

export interface NoticeBoard {
  tell(notice: SurfaceNotice): void;
  take(): readonly SurfaceNotice[];
}

const WAITING_MAX = 500;
const KNOWN_MAX = 5_000;
const NAME_MAX = 200;
const NONE: readonly SurfaceNotice[] = [];

export function createNoticeBoard(redact: () => (text: string) => string): NoticeBoard {
  const known = new Set<string>();
  let waiting: SurfaceNotice[] = [];
  return {
    tell(notice) {
      const { name, detail } = notice;
      const redactor = { redact: redact() };
      const shown = name === undefined ? undefined : visible(clean(name, redactor), NAME_MAX);
      const key = JSON.stringify([notice.what, shown, notice.reason_code, notice.enforced, detail]);
      if (known.has(key) || known.size >= KNOWN_MAX || waiting.length >= WAITING_MAX) return;
      // A server goes up and down more than once, and each time is news.
      if (notice.what !== 'server_state') known.add(key);
      waiting.push({ ...notice, name: shown, detail: clean(detail, redactor) });
    },
    take() {
      if (waiting.length === 0) return NONE;
      const taken = waiting;
      waiting = [];
      return taken;
    },
  };
}
