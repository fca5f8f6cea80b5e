// The memory as integrations.yaml wants it, and the audit that looks through it once a day.
import { type Failure, type IntegrationsFile, isFailure, isObject } from '@subluminal/contracts';
import { createRedactor, type Redactor } from '@subluminal/core/scan';
import { errorText, parseJson } from '@subluminal/plane/os';
import { openUpstream, proxyOf } from '@subluminal/plane/upstream';
import type { Journal } from '../journal/index.ts';
import {
  type Embedder,
  type Memory,
  openLocalEmbedder,
  openMemory,
  openProviderEmbedder,
} from '../memory/index.ts';
import type { OpenParts } from './open-parts.ts';
import type { UsedSecrets } from './used-secrets.ts';

interface MemoryPlaces {
  readonly home: string;
  readonly journal: Journal;
  readonly integrations: IntegrationsFile;
  readonly env: { readonly [name: string]: string | undefined };
  readonly secrets: UsedSecrets;
  readonly opened: OpenParts;
  readonly log: (line: string) => void;
}

const OPENAI_URL = 'https://api.openai.com/v1';
const OPENAI_MODEL = 'text-embedding-3-small';
const LOOK_EVERY_MS = 3_600_000;
const AUDIT_EVERY_MS = 86_400_000;
const LAST_AUDIT = 'memory.audit';

/** Throws a failure of the database. Without embeddings it is searched by words, and the log says why. */
export async function openOwnMemory(places: MemoryPlaces): Promise<Memory | Failure> {
  const { home, journal, integrations, secrets, opened, log } = places;
  const { database_ref: ref } = integrations.memory;
  const database = ref === undefined ? undefined : await secrets.fetch(ref);
  if (isFailure(database)) return database;
  const embedder = await openEmbedder(places);
  if (isFailure(embedder)) log(`The memory is searched by words alone: ${embedder.message}`);
  const found = isFailure(embedder) ? undefined : embedder;
  if (found !== undefined) opened.add(found, (one) => one.close());
  const memory = await openMemory({
    ...{ home, redactor: redactorWith(secrets) },
    alsoForget: (texts) => journal.texts.forget(texts),
    ...(database !== undefined && { database }),
    ...(found !== undefined && { embedder: found }),
  });
  return opened.add(memory, (one) => one.close());
}

/** Knows the secrets that Steward uses, beside all known formats. */
function redactorWith({ redact }: UsedSecrets): Redactor {
  const known = createRedactor({});
  return {
    ...known,
    redact: (text, options) => known.redact(redact(text), options),
    plain: (text, options) => known.plain(redact(text), options),
  };
}

async function openEmbedder(places: MemoryPlaces): Promise<Embedder | Failure | undefined> {
  const { integrations, secrets, env, opened, log } = places;
  const { provider, model, base_url, key_ref } = integrations.embeddings;
  if (provider === 'none') return undefined;
  if (provider === 'local') {
    const local = await openLocalEmbedder();
    if (local === undefined) log('The packages of the local embeddings are not installed.');
    return local;
  }
  const apiKey = key_ref === undefined ? undefined : await secrets.fetch(key_ref);
  if (isFailure(apiKey)) return apiKey;
  const upstream = opened.add(openUpstream({ proxy: proxyOf(env) }), (one) => one.close());
  return openProviderEmbedder({
    ...{ baseUrl: base_url ?? OPENAI_URL, model: model ?? OPENAI_MODEL, upstream },
    ...(apiKey !== undefined && { apiKey }),
  });
}

interface AuditParts {
  readonly memory: Memory;
  readonly journal: Journal;
  readonly nowMs: () => number;
  readonly log: (line: string) => void;
}

/** Once a day, over restarts. What it finds waits for the user. */
export function startMemoryAudit(parts: AuditParts): { readonly stop: () => Promise<void> } {
  const end = new AbortController();
  let last: Promise<void> = Promise.resolve();
  const look = () => {
    last = last.then(() => auditIfDue(parts, end.signal));
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  look();
  return {
    stop: async () => {
      clearInterval(timer);
      end.abort();
      await last;
    },
  };
}

async function auditIfDue(parts: AuditParts, signal: AbortSignal): Promise<void> {
  const { memory, journal, nowMs, log } = parts;
  const before = lastMemoryAudit(journal);
  if (signal.aborted || nowMs() - (before?.at_ms ?? 0) < AUDIT_EVERY_MS) return;
  try {
    const { findings, unlisted } = await memory.audit(signal);
    const found = findings.length + unlisted;
    if (signal.aborted) return;
    journal.setValue(LAST_AUDIT, JSON.stringify({ at_ms: nowMs(), findings: found }));
    if (found > 0) log(`The audit of the memory has ${found} findings: sub steward memory review`);
  } catch (cause) {
    log(`The memory could not be audited: ${errorText(cause)}.`);
  }
}

/** When it was, and how much it found. */
export function lastMemoryAudit(journal: Journal) {
  const value = parseJson(journal.value(LAST_AUDIT) ?? '');
  if (!isObject(value)) return null;
  const { at_ms, findings } = value;
  return typeof at_ms === 'number' && typeof findings === 'number' ? { at_ms, findings } : null;
}
