// Tools of both fixture servers for what the suite has no scenario for: the matrix of the SDKs calls them.
import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { ContentBlock } from '@modelcontextprotocol/server';
import { STEP_MS, text } from './offer.ts';

const LEVELS = ['debug', 'info', 'warning', 'error'] as const;
export type LogLevel = (typeof LEVELS)[number];

/** One call, in the words of both SDKs. */
export interface FeatureCall {
  readonly args: Readonly<Record<string, unknown>>;
  /** The `_meta` of the request. */
  readonly meta: object;
  readonly signal: AbortSignal;
  readonly progress: (step: number) => Promise<void>;
  readonly log: (level: LogLevel, data: string) => Promise<void>;
  /** Tells who listens that this resource and all lists have changed. */
  readonly change: (uri: string) => Promise<void>;
}

type FeatureResult = {
  content: ContentBlock[];
  structuredContent?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
};

type ObjectSchema = {
  type: 'object';
  properties: Record<string, { type: 'string' | 'number' | 'array' }>;
  required?: string[];
};

interface FeatureTool {
  /** As the list of tools shows it. */
  readonly shown: {
    readonly title?: string;
    readonly description: string;
    readonly annotations?: { readonly [hint: string]: boolean };
    readonly _meta?: Record<string, unknown>;
  };
  readonly outputSchema?: ObjectSchema;
  /** Its arguments, all of them texts. */
  readonly takes?: readonly string[];
  readonly call: (call: FeatureCall) => Promise<FeatureResult>;
}

export const WATCHED = 'test://watched-resource';
/** A call that nobody cancels ends all the same. */
const WAIT_STEPS_MAX = 500;

export const FEATURE_TOOLS: Readonly<Record<string, FeatureTool>> = {
  feature_structured: {
    shown: {
      title: 'Structured content',
      description: 'Answers with structured content, annotations and metadata',
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      _meta: { 'example.com/kind': { weather: [1, 2.5] } },
    },
    outputSchema: {
      type: 'object',
      properties: { degrees: { type: 'number' }, sky: { type: 'array' } },
      required: ['degrees'],
    },
    call: async () => ({
      content: [
        { ...text('{"degrees":21.5}'), annotations: { audience: ['user'], priority: 0.5 } },
        { type: 'resource_link', uri: WATCHED, name: 'watched', description: 'A link' },
      ],
      structuredContent: { degrees: 21.5, sky: ['clear', null, 'é😀\u2028'] },
      _meta: { 'example.com/source': { station: 7 } },
    }),
  },
  feature_meta: {
    shown: { description: 'Answers with the metadata of its request' },
    call: async ({ meta }) => done(JSON.stringify(foreignMeta(meta))),
  },
  feature_large: {
    shown: { description: 'Answers with a text of this length' },
    takes: ['length'],
    call: async ({ args }) => done('0123456789é"\\\n'.repeat(Number(args['length']) / 14)),
  },
  feature_meet: {
    shown: { description: 'Answers when this many calls with its key are open' },
    takes: ['key', 'parties', 'name'],
    call: async ({ args }) => {
      await meet(String(args['key']), Number(args['parties']));
      return done(String(args['name']));
    },
  },
  feature_steps: {
    shown: { description: 'Reports progress, and goes on when it is told to' },
    takes: ['key'],
    call: async ({ args, progress }) => {
      for (const step of [1, 2.5]) {
        const told = once(moments, `go ${String(args['key'])}`);
        await progress(step);
        await told;
      }
      return done('All steps are done');
    },
  },
  feature_go: {
    shown: { description: 'Tells a call of feature_steps to go on' },
    takes: ['key'],
    call: async ({ args }) => {
      moments.emit(`go ${String(args['key'])}`);
      return done('Told');
    },
  },
  feature_wait: {
    shown: { description: 'Reports progress until it is cancelled' },
    takes: ['key'],
    call: wait,
  },
  feature_fate: {
    shown: { description: 'Tells how a call of feature_wait has ended, when it has' },
    takes: ['key'],
    call: async ({ args }) => done(await fateOf(String(args['key']))),
  },
  feature_log: {
    shown: { description: 'Logs at several levels' },
    call: async ({ log }) => {
      for (const level of LEVELS) await log(level, `at ${level}`);
      return done('Logged');
    },
  },
  feature_change: {
    shown: { description: 'Changes a resource and all lists' },
    call: async ({ change }) => {
      await change(WATCHED);
      return done('Changed');
    },
  },
};

export function inputSchemaOf({ takes = [] }: FeatureTool): ObjectSchema {
  const properties = Object.fromEntries(takes.map((name) => [name, { type: 'string' as const }]));
  return { type: 'object', properties };
}

/** Without what belongs to the protocol, which differs between its revisions. */
function foreignMeta(meta: object): object {
  const isForeign = ([key]: [string, unknown]): boolean =>
    key !== 'progressToken' && !key.startsWith('io.modelcontextprotocol/');
  return Object.fromEntries(Object.entries(meta).filter(isForeign));
}

const meetings = new Map<string, number>();
const moments = new EventEmitter().setMaxListeners(0);

async function meet(key: string, parties: number): Promise<void> {
  const present = (meetings.get(key) ?? 0) + 1;
  meetings.set(key, present);
  if (present >= parties) moments.emit(`met ${key}`);
  else await once(moments, `met ${key}`);
}

const fates = new Map<string, string>();

async function wait({ args, signal, progress }: FeatureCall): Promise<FeatureResult> {
  const key = String(args['key']);
  for (let step = 1; step <= WAIT_STEPS_MAX && !signal.aborted; step += 1) {
    await progress(step);
    await setTimeout(STEP_MS, undefined, { signal }).catch(() => undefined);
  }
  const fate = signal.aborted ? 'cancelled' : 'finished';
  fates.set(key, fate);
  moments.emit(`fate of ${key}`);
  return done(fate);
}

async function fateOf(key: string): Promise<string> {
  if (!fates.has(key)) await once(moments, `fate of ${key}`);
  return fates.get(key) ?? '';
}

function done(value: string): FeatureResult {
  return { content: [text(value)] };
}
