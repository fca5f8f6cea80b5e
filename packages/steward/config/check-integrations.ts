// What the shape of integrations.yaml cannot say.
import { isAbsolute } from 'node:path';
import type { IntegrationsFile, StewardModel } from '@subluminal/contracts';
import type { Path, SourceFinding } from '@subluminal/core/source';
import { quote } from '@subluminal/core/visible';
import { parseSecretRef } from '@subluminal/gateway/config';
import { isLoopbackHost } from '@subluminal/plane/os';
import { type ServerEntry, serverEntry } from '@subluminal/plane/serve/config';

/** The servers that live in Steward itself: no other may take their names. */
const OWN_SERVERS: ReadonlySet<string> = new Set([
  ...['files', 'shell', 'web', 'email', 'calendar', 'memory', 'contacts', 'reminders'],
  ...['skills', 'servers', 'toolsmith', 'config', 'agents', 'tools', 'sandbox'],
]);

/** Without a dot: an action is `SERVER.TOOL`. */
const SERVER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/;
const LISTEN = /^(?:\[[0-9A-Fa-f:.]+\]|[^:[\]\s]+):\d{1,5}$/;
const REF_FIX = 'Write `sub://NAME`, `env://NAME` or `file:///PATH`.';

type ReportFault = (finding: SourceFinding) => void;

export function checkIntegrations(file: IntegrationsFile, report: ReportFault): void {
  checkRefs(file, [], report);
  for (const [purpose, chain] of Object.entries(file.models)) {
    for (const [at, model] of chain.entries()) {
      checkModel(model, ['models', purpose, at], report);
    }
  }
  const { files, embeddings, email, calendar, web, coding, channels, webhooks } = file;
  if (embeddings.provider === 'openai_compat' && embeddings.base_url === undefined) {
    lacks(['embeddings'], 'base_url', report);
  }
  if (embeddings.provider.startsWith('openai') && embeddings.model === undefined) {
    lacks(['embeddings'], 'model', report);
  }
  if (web.search?.provider === 'searxng' && web.search.url === undefined) {
    lacks(['web', 'search'], 'url', report);
  }
  checkUrl(embeddings.base_url, ['embeddings', 'base_url'], report);
  checkUrl(calendar?.url, ['calendar', 'url'], report);
  checkUrl(web.search?.url, ['web', 'search', 'url'], report);
  for (const [name, channel] of Object.entries(channels)) {
    if ('api_url' in channel) checkUrl(channel.api_url, ['channels', name, 'api_url'], report);
  }
  for (const [name, server] of [
    ['imap', email?.imap],
    ['smtp', email?.smtp],
  ] as const) {
    if (server?.tls !== 'none' || isLoopbackHost(server.host)) continue;
    const message = 'mail and password would travel unencrypted';
    report(wrong(['email', name, 'tls'], message, 'Write `implicit` or `starttls`.'));
  }
  for (const [at, folder] of files.folders.entries()) {
    checkFolder(folder, ['files', 'folders', at], report);
  }
  if (coding !== undefined) checkFolder(coding.folder, ['coding', 'folder'], report);
  if (webhooks !== undefined && !LISTEN.test(webhooks.listen)) {
    const message = `${quote(webhooks.listen)} is no address`;
    report(wrong(['webhooks', 'listen'], message, 'Write HOST:PORT, like `127.0.0.1:8791`.'));
  }
}

function checkModel(model: StewardModel, path: Path, report: ReportFault): void {
  if (model.provider === 'openai_compat' && model.base_url === undefined) {
    lacks(path, 'base_url', report);
  }
  checkUrl(model.base_url, [...path, 'base_url'], report);
  if (model.provider !== 'gateway') return;
  for (const field of ['base_url', 'key_ref'] as const) {
    if (model[field] === undefined) continue;
    const message = `\`${field}\` means nothing for the gateway: \`sub login\` says where it is`;
    report({ ...wrong([...path, field], message, 'Remove it.'), atKey: true });
  }
}

/** The entries of the MCP servers that can be used. */
export function checkServers(
  { servers }: IntegrationsFile,
  { folder, report }: { readonly folder: string; readonly report: ReportFault },
): readonly ServerEntry[] {
  return Object.entries(servers).flatMap(([name, server]) => {
    const path = ['servers', name];
    const isOwn = OWN_SERVERS.has(name.toLowerCase());
    if (isOwn || !SERVER_NAME.test(name)) {
      const message = isOwn
        ? `Steward has a server ${quote(name)} of its own`
        : `${quote(name)} is no name of a server`;
      const fix = isOwn ? 'Give it another name.' : 'Use letters, digits, `_` and `-`.';
      report({ ...wrong(path, message, fix), atKey: true });
      return [];
    }
    // The address that relative folders start from is that of a file.
    const file = `${folder}/integrations.yaml`;
    const entry = serverEntry(name, server, {
      file,
      report: (finding) => report({ ...finding, code: 'SUB_STEWARD_VALUE' }),
    });
    return entry === undefined ? [] : [entry];
  });
}

/** Every text under a name that ends in `_ref`; what is no reference may be the secret itself. */
function checkRefs(value: unknown, path: Path, report: ReportFault): void {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) checkRefs(item, [...path, at], report);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) checkRefs(item, [...path, key], report);
  } else if (typeof value === 'string' && String(path.at(-1)).endsWith('_ref')) {
    if (parseSecretRef(value) !== undefined) return;
    const message = 'expected a reference to a secret, got another text';
    report(wrong(path, message, REF_FIX));
  }
}

function checkFolder(folder: string, path: Path, report: ReportFault): void {
  if (isAbsolute(folder)) return;
  report(wrong(path, `${quote(folder)} is no absolute path`, 'Write it like `/srv/project`.'));
}

function checkUrl(text: string | undefined, path: Path, report: ReportFault): void {
  if (text === undefined || isPlainUrl(text)) return;
  const message = 'expected an http or https URL without credentials';
  report(wrong(path, message, 'Write it like `https://api.example.com/v1`.'));
}

/** An http or https URL without credentials. */
export function isPlainUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === '' && url.password === '';
  return isPlain && (url.protocol === 'https:' || url.protocol === 'http:');
}

function lacks(path: Path, field: string, report: ReportFault): void {
  report(wrong(path, `\`${field}\` is missing`, `Add \`${field}\`.`));
}

function wrong(path: Path, message: string, fix: string): SourceFinding {
  return { code: 'SUB_STEWARD_VALUE', path, message, fix };
}
