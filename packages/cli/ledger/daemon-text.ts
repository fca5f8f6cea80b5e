// Texts about a running daemon.
import type { LedgerStatus } from '@subluminal/plane/ingest';
import manifest from '../package.json' with { type: 'json' };
import { plural } from '../terminal/text.ts';

export function statusText(status: LedgerStatus, isNew: boolean): string {
  const { pid, version, started_at, connections, events_committed, http } = status;
  const api = http === undefined ? '' : `, HTTP API on ${http.url}`;
  if (isNew) return `The daemon runs now (pid ${pid})${api}.`;
  const work = `${plural(events_committed, 'event')} taken, ${plural(connections, 'connection')}`;
  return `The daemon runs (pid ${pid}, version ${version}) since ${started_at}: ${work}${api}.`;
}

/** What it does besides keeping the ledger. */
export function dutiesOf({ channels = [], http }: LedgerStatus): readonly string[] {
  const page = http?.page;
  return [
    ...(page === undefined ? [] : [`It serves the page on ${page}; \`sub ui\` opens it.`]),
    ...(channels.length === 0 ? [] : [`It asks people for approvals by ${channels.join(', ')}.`]),
  ];
}

/** Its problems. */
export function troublesOf({ conflicts, http_error }: LedgerStatus): readonly string[] {
  const what = conflicts === 1 ? '1 line was' : `${conflicts} lines were`;
  return [
    ...(http_error === undefined ? [] : [`The HTTP API is not served: ${http_error}`]),
    ...(conflicts === 0
      ? []
      : [`${what} set aside because another had the same number: see \`sub ledger verify\`.`]),
  ];
}

export function notesOf({ version, stays }: LedgerStatus): readonly string[] {
  const isOther = version !== manifest.version;
  return [
    stays
      ? 'It stays until `sub ledgerd --stop`.'
      : 'It ends when nobody has needed it for a while; `sub ledgerd` lets it stay.',
    ...(isOther
      ? [`This is version ${manifest.version}: \`sub ledgerd --stop\`, then \`sub ledgerd\`.`]
      : []),
  ];
}

const VERSION = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})/;

/** Whether a version is older than this command; false for one in an unknown form. */
export function isOlder(version: string): boolean {
  const [theirs, ours] = [version, manifest.version].map((text) =>
    VERSION.exec(text)?.slice(1).map(Number),
  );
  if (theirs === undefined || ours === undefined) return false;
  const at = ours.findIndex((number, index) => number !== theirs[index]);
  return at >= 0 && (theirs[at] ?? 0) < (ours[at] ?? 0);
}
