// The table [approvals] of config.toml. Secrets are named here, never written: each is a reference
// that the vault resolves.
import { isIP } from 'node:net';
import { isFailure } from '@subluminal/contracts';
import { readSecretRef } from './secret-ref.ts';
import { type ConfigFault, TableReader } from './table-reader.ts';
import { BOOLEAN, integer, isTable, safeUrl } from './values.ts';

const KEEP_DAYS = 30;
const REF_SHAPE = /^[a-z][a-z0-9+-]{1,20}:\/\/[^\s\p{C}]{1,1000}$/u;
const SLACK_ID = /^[A-Z][A-Z0-9]{2,31}$/;
const USERS_MAX = 200;
const LISTEN = /^(?:\[([0-9a-fA-F:.]{2,45})\]|(localhost|[0-9.]{7,15})):(\d{1,5})$/;
const PORT_MAX = 65_535;
const THIS_HOST: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Calls and signatures do not travel in the open, except inside this machine. */
const SAFE_URL = text(
  'an https address, or http on this machine',
  (url) => safeUrl(url, (host) => THIS_HOST.has(host)) !== undefined,
);
const REFERENCE = text(
  'a reference to a secret: env://, file://, keychain://, sub://, vault:// or op://',
  (ref) => REF_SHAPE.test(ref),
);
const CHANNEL = text('the id of a channel, like C0123456789', (id) => SLACK_ID.test(id));
const USERS = {
  words: 'a list of ids of users, like U0123456789',
  read: (value: unknown): readonly string[] | undefined => {
    const list: readonly unknown[] = Array.isArray(value) ? value : [];
    const ids = list.filter((id) => typeof id === 'string' && SLACK_ID.test(id));
    const isList = list.length > 0 && list.length <= USERS_MAX && ids.length === list.length;
    return isList ? ids.map(String) : undefined;
  },
};
const ADDRESS = {
  words: 'an address and a port, like 127.0.0.1:8790 or 0.0.0.0:8790',
  read: (value: unknown) => {
    const [, six, four = '', digits = ''] =
      LISTEN.exec(typeof value === 'string' ? value : '') ?? [];
    const host = six ?? (four === 'localhost' ? '127.0.0.1' : four);
    const port = Number(digits);
    const isOne = isIP(host) === (six === undefined ? 4 : 6) && port <= PORT_MAX;
    return isOne ? { host, port } : undefined;
  },
};

function text(words: string, fits: (value: string) => boolean) {
  return {
    words,
    read: (value: unknown) => (typeof value === 'string' && fits(value) ? value : undefined),
  };
}

export type ApprovalSettings = ReturnType<typeof readApprovals>['settings'];

/** Reads what stands under `approvals`. The settings hold only where there is no fault. */
export function readApprovals(value: unknown) {
  const faults: ConfigFault[] = [];
  if (!isTable(value)) {
    const fix = 'Write [approvals], and its settings below it.';
    const message = '`approvals` is not a table';
    faults.push({ path: ['approvals'], code: 'SUB_CONFIG_VALUE', message, fix });
  }
  const table = new TableReader(isTable(value) ? value : {}, ['approvals'], faults);
  const settings = {
    /** How long what has ended is kept. */
    keepDays: table.optional('keep_days', integer(1, 36_500), KEEP_DAYS),
    /** Where answers may come in besides the HTTP API of this machine. */
    listen: table.optional('listen', ADDRESS, null),
    desktop: readDesktop(table.table('desktop')),
    webhook: readWebhook(table.table('webhook')),
    slack: readSlack(table.table('slack')),
  };
  table.done();
  return { settings, faults };
}

function readDesktop(table: TableReader | undefined) {
  if (table === undefined) return null;
  const isOn = table.optional('enabled', BOOLEAN, true);
  const perMinuteMax = table.optional('per_minute', integer(1, 60), 6);
  table.done();
  return isOn ? { perMinuteMax } : null;
}

function readWebhook(table: TableReader | undefined) {
  if (table === undefined) return null;
  const settings = {
    url: table.required('url', SAFE_URL, ''),
    secretRef: secretRef(table, 'secret'),
    timeoutMs: table.optional('timeout_ms', integer(100, 60_000), 10_000),
    attemptsMax: table.optional('attempts', integer(1, 10), 6),
    backoffMs: table.optional('backoff_ms', integer(1, 60_000), 1_000),
  };
  table.done();
  return settings;
}

function readSlack(table: TableReader | undefined) {
  if (table === undefined) return null;
  const settings = {
    tokenRef: secretRef(table, 'token'),
    signingSecretRef: secretRef(table, 'signing_secret'),
    channel: table.required('channel', CHANNEL, ''),
    users: table.required('users', USERS, []),
    pollMs: table.optional('poll_ms', integer(100, 600_000), 5_000),
    timeoutMs: table.optional('timeout_ms', integer(100, 60_000), 10_000),
    apiUrl: table.optional('api_url', SAFE_URL, undefined),
  };
  table.done();
  return settings;
}

function secretRef(table: TableReader, key: string): string {
  const ref = table.required(key, REFERENCE, '');
  const read = ref === '' ? undefined : readSecretRef(ref, undefined);
  if (isFailure(read)) {
    const message = read.message.replace('secret_ref', [...table.path, key].join('.'));
    // There is no `source` here.
    table.fault(key, message, read.fix.replace(', or add `source`', ''));
  }
  return ref;
}
