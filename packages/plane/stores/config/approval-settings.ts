// The table [approvals] of config.toml. Secrets are named here, never written: each is a reference
// that the vault resolves.
import { isIP } from 'node:net';
import { nearest } from '@subluminal/core/policy';
import { type ConfigFailure, configFailure } from './config-failure.ts';
import { readSecretRef } from './secret-ref.ts';
import { isTable, type TomlTable } from './values.ts';

interface DesktopSettings {
  readonly perMinuteMax: number;
}
interface WebhookSettings {
  readonly url: string;
  readonly secretRef: string;
  readonly timeoutMs: number;
  readonly attemptsMax: number;
  readonly backoffMs: number;
}
interface SlackSettings {
  readonly tokenRef: string;
  readonly signingSecretRef: string;
  readonly channel: string;
  readonly users: readonly string[];
  readonly pollMs: number;
  readonly timeoutMs: number;
  readonly apiUrl: string | undefined;
}

interface ListenSettings {
  readonly host: string;
  readonly port: number;
}

export interface ApprovalSettings {
  /** How long what has ended is kept. */
  readonly keepDays: number;
  /** Where answers may come in besides the HTTP API of this machine. */
  readonly listen: ListenSettings | null;
  readonly desktop: DesktopSettings | null;
  readonly webhook: WebhookSettings | null;
  readonly slack: SlackSettings | null;
}

interface SettingsProblem {
  /** Below `approvals`. */
  readonly path: readonly string[];
  readonly code: 'SUB_CONFIG_KEY' | 'SUB_CONFIG_VALUE';
  readonly message: string;
  readonly fix: string;
}

type ReadSettings =
  | { readonly ok: true; readonly settings: ApprovalSettings }
  | { readonly ok: false; readonly problems: readonly SettingsProblem[] };

const NOTHING: ApprovalSettings = {
  keepDays: 30,
  listen: null,
  desktop: null,
  webhook: null,
  slack: null,
};
/** `env://NAME`, `file://PATH`, …: a name, so that nobody writes the secret itself. */
const REFERENCE = /^[a-z][a-z0-9+-]{1,20}:\/\/[^\s\p{C}]{1,1000}$/u;
const SLACK_ID = /^[A-Z][A-Z0-9]{2,31}$/;
const USERS_MAX = 200;
const URL_LENGTH_MAX = 2_048;

/** One table while it is read: what is asked for is known, what is left over is a mistake. */
class SettingsTable {
  readonly #values: TomlTable;
  readonly #path: readonly string[];
  readonly #problems: SettingsProblem[];
  readonly #known = new Set<string>();

  constructor(values: TomlTable, path: readonly string[], problems: SettingsProblem[]) {
    this.#values = values;
    this.#path = path;
    this.#problems = problems;
  }

  number(
    key: string,
    { min, max, fallback }: Readonly<Record<'min' | 'max' | 'fallback', number>>,
  ) {
    const value = this.#take(key) ?? fallback;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) {
      return value;
    }
    return this.#wrong(key, `a whole number from ${min} to ${max}`, fallback);
  }

  boolean(key: string, fallback: boolean): boolean {
    const value = this.#take(key) ?? fallback;
    return typeof value === 'boolean' ? value : this.#wrong(key, 'true or false', fallback);
  }

  text(key: string, words: string, fits: (text: string) => boolean): string {
    const value = this.#take(key);
    return typeof value === 'string' && fits(value) ? value : this.#wrong(key, words, '');
  }

  maybeText(key: string, words: string, fits: (text: string) => boolean): string | undefined {
    const isThere = this.#take(key) !== undefined;
    return isThere ? this.text(key, words, fits) : undefined;
  }

  texts(key: string, words: string, fits: (text: string) => boolean): readonly string[] {
    const value = this.#take(key);
    const isList = Array.isArray(value) && value.length > 0 && value.length <= USERS_MAX;
    if (!isList) return this.#wrong(key, words, []);
    const texts = value.filter((one) => typeof one === 'string' && fits(one));
    return texts.length === value.length ? texts.map(String) : this.#wrong(key, words, []);
  }

  table(key: string): SettingsTable | null {
    const value = this.#take(key);
    if (value === undefined) return null;
    if (isTable(value)) return new SettingsTable(value, [...this.#path, key], this.#problems);
    return this.#wrong(key, 'a table', null);
  }

  /** Says of each key that nobody has asked for that it is not known. */
  done(): void {
    const known = [...this.#known];
    for (const key of Object.keys(this.#values)) {
      if (this.#known.has(key)) continue;
      const message = `unknown key \`${key.slice(0, 60)}\``;
      const near = nearest(key, known);
      const fix =
        near === undefined
          ? `Write one of ${known.join(', ')}, or remove it.`
          : `Did you mean \`${near}\`?`;
      this.#problems.push({ path: [...this.#path, key], code: 'SUB_CONFIG_KEY', message, fix });
    }
  }

  #take(key: string): unknown {
    this.#known.add(key);
    return Object.hasOwn(this.#values, key) ? this.#values[key] : undefined;
  }

  /** What stands there is not shown: it may be a secret in the wrong place. */
  #wrong<T>(key: string, words: string, instead: T): T {
    const message = `\`${['approvals', ...this.#path, key].join('.')}\` is not ${words}`;
    const path = [...this.#path, key];
    this.#problems.push({ path, code: 'SUB_CONFIG_VALUE', message, fix: `Write ${words}.` });
    return instead;
  }
}

const reference = 'a reference to a secret, like env://NAME or file://PATH';
const isReference = (text: string) => REFERENCE.test(text);

/** Reads what stands under `approvals`; undefined stands for none. */
export function readApprovalSettings(value: unknown): ReadSettings {
  if (value === undefined) return { ok: true, settings: NOTHING };
  const problems: SettingsProblem[] = [];
  if (!isTable(value)) {
    const fix = 'Write [approvals], and its settings below it.';
    const message = '`approvals` is not a table';
    return { ok: false, problems: [{ path: [], code: 'SUB_CONFIG_VALUE', message, fix }] };
  }
  const inner = new SettingsTable(value, [], problems);
  const settings: ApprovalSettings = {
    keepDays: inner.number('keep_days', { min: 1, max: 36_500, fallback: NOTHING.keepDays }),
    listen: readListen(inner),
    desktop: readDesktop(inner.table('desktop')),
    webhook: readWebhook(inner.table('webhook')),
    slack: readSlack(inner.table('slack')),
  };
  inner.done();
  return problems.length === 0 ? { ok: true, settings } : { ok: false, problems };
}

const LISTEN = /^(?:\[([0-9a-fA-F:.]{2,45})\]|(localhost|[0-9.]{7,15})):(\d{1,5})$/;
const PORT_MAX = 65_535;

function readListen(table: SettingsTable): ListenSettings | null {
  const words = 'an address and a port, like 127.0.0.1:8790 or 0.0.0.0:8790';
  const text = table.maybeText('listen', words, (one) => listenOf(one) !== undefined);
  return (text === undefined ? undefined : listenOf(text)) ?? null;
}

function listenOf(text: string): ListenSettings | undefined {
  const [, six, four = '', digits = ''] = LISTEN.exec(text) ?? [];
  const host = six ?? (four === 'localhost' ? '127.0.0.1' : four);
  const port = Number(digits);
  const isOne = isIP(host) === (six === undefined ? 4 : 6) && port <= PORT_MAX;
  return isOne ? { host, port } : undefined;
}

interface ReadApprovals {
  /** Undefined where the file says nothing about approvals. */
  readonly approvals: ApprovalSettings | undefined;
  readonly problems: readonly ConfigFailure[];
}

/** The same with places in the file, and with references that are ones. */
export function readApprovals(
  value: unknown,
  where: (path: readonly string[]) => string,
): ReadApprovals {
  const read = readApprovalSettings(value);
  const problems = read.ok ? refProblems(read.settings) : read.problems;
  return {
    approvals: read.ok ? read.settings : undefined,
    problems: problems.map(({ path, code, ...words }) =>
      configFailure(code, where(['approvals', ...path]), words),
    ),
  };
}

/** The references of the settings, by the keys that they stand under. */
function approvalRefs({ webhook, slack }: ApprovalSettings): ReadonlyMap<string, string> {
  return new Map([
    ...(webhook === null ? [] : [['webhook.secret', webhook.secretRef] as const]),
    ...(slack === null
      ? []
      : [
          ['slack.token', slack.tokenRef] as const,
          ['slack.signing_secret', slack.signingSecretRef] as const,
        ]),
  ]);
}

function refProblems(settings: ApprovalSettings): readonly SettingsProblem[] {
  return [...approvalRefs(settings)].flatMap(([key, ref]): readonly SettingsProblem[] => {
    const read = readSecretRef(ref, undefined);
    if (read.ok) return [];
    const message = read.message.replace('`secret_ref`', `\`approvals.${key}\``);
    // There is no `source` here.
    const fix = read.fix.replace(', or add `source`', '');
    return [{ path: key.split('.'), code: 'SUB_CONFIG_VALUE', message, fix }];
  });
}

function readDesktop(table: SettingsTable | null): DesktopSettings | null {
  if (table === null) return null;
  const isOn = table.boolean('enabled', true);
  const perMinuteMax = table.number('per_minute', { min: 1, max: 60, fallback: 6 });
  table.done();
  return isOn ? { perMinuteMax } : null;
}

function readWebhook(table: SettingsTable | null): WebhookSettings | null {
  if (table === null) return null;
  const settings = {
    url: table.text('url', 'an https address, or http on this machine', isSafeUrl),
    secretRef: table.text('secret', reference, isReference),
    timeoutMs: table.number('timeout_ms', { min: 100, max: 60_000, fallback: 10_000 }),
    attemptsMax: table.number('attempts', { min: 1, max: 10, fallback: 6 }),
    backoffMs: table.number('backoff_ms', { min: 1, max: 60_000, fallback: 1_000 }),
  };
  table.done();
  return settings;
}

function readSlack(table: SettingsTable | null): SlackSettings | null {
  if (table === null) return null;
  const isId = (text: string) => SLACK_ID.test(text);
  const settings = {
    tokenRef: table.text('token', reference, isReference),
    signingSecretRef: table.text('signing_secret', reference, isReference),
    channel: table.text('channel', 'the id of a channel, like C0123456789', isId),
    users: table.texts('users', 'a list of ids of users, like U0123456789', isId),
    pollMs: table.number('poll_ms', { min: 100, max: 600_000, fallback: 5_000 }),
    timeoutMs: table.number('timeout_ms', { min: 100, max: 60_000, fallback: 10_000 }),
    apiUrl: table.maybeText('api_url', 'an https address, or http on this machine', isSafeUrl),
  };
  table.done();
  return settings;
}

/** Calls and signatures do not travel in the open, except inside this machine. */
function isSafeUrl(text: string): boolean {
  if (text.length > URL_LENGTH_MAX || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  const isHere = hostname === '127.0.0.1' || hostname === '[::1]' || hostname === 'localhost';
  return protocol === 'https:' || (protocol === 'http:' && isHere);
}
