// Turns as OpenTelemetry spans with the names of the GenAI conventions, by OTLP over HTTP in JSON. Never in the way
// of a turn: a bounded queue, sent in batches; what does not fit is dropped and counted.
import { randomBytes } from 'node:crypto';
import type { JsonObject } from '@subluminal/contracts';
import { request } from 'undici';

/** One turn, when it has ended. No text of prompt or answer. */
export interface TurnSpan {
  /** A UUID: its 128 bits are the id of the trace. */
  readonly traceId: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly provider: string;
  readonly requestModel: string;
  readonly responseModel?: string | undefined;
  readonly serverAddress?: string | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly finishReason?: string | undefined;
  /** The class of its error; none for a turn that went well. */
  readonly errorType?: string | undefined;
  /** More about it, under `subluminal.`. */
  readonly attributes: { readonly [name: string]: string | number | boolean };
}

interface ExporterOptions {
  /** The collector: `https://collector:4318`, with or without `/v1/traces`. */
  readonly endpoint: string;
  /** The value of `Authorization`. */
  readonly authorization?: string | undefined;
  readonly version: string;
  readonly onWarning?: (message: string) => void;
  readonly limits?: Partial<ExporterLimits>;
}

const LIMITS = { queueMax: 4_096, batchMax: 512, intervalMs: 5_000, timeoutMs: 10_000 };
type ExporterLimits = { readonly [K in keyof typeof LIMITS]: number };

const PATH = '/v1/traces';
const KIND_CLIENT = 3;
const STATUS_ERROR = 2;
const SPAN_ID_BYTES = 8;
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** What cannot be delivered so often in a row is dropped. */
const ATTEMPTS_MAX = 5;

export class SpanExporter {
  readonly #options: ExporterOptions;
  readonly #limits: ExporterLimits;
  readonly #url: string;
  #queue: JsonObject[] = [];
  #dropped = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    const base = options.endpoint.replace(/\/+$/, '');
    this.#url = base.endsWith(PATH) ? base : base + PATH;
  }

  /** How many spans were lost. */
  get dropped(): number {
    return this.#dropped;
  }

  record(span: TurnSpan): void {
    if (this.#queue.length >= this.#limits.queueMax) {
      this.#dropped += 1;
      return;
    }
    this.#queue.push(otlpSpan(span));
    // A collector that was busy is asked again when its time has come, not by each turn.
    const isFull = this.#queue.length >= this.#limits.batchMax;
    if (isFull && this.#failures === 0) void this.flush();
    else this.#flushLater();
  }

  #flushLater(): void {
    this.#timer ??= setTimeout(() => void this.flush(), this.#limits.intervalMs).unref();
  }

  /** Sends what waits, batch by batch, until it is gone or the collector is. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /** Sends what waits for the last time. */
  async close(): Promise<void> {
    await this.#sending;
    await this.flush();
    clearTimeout(this.#timer);
  }

  async #sendAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.slice(0, this.#limits.batchMax);
      const outcome = await this.#send(batch);
      if (outcome === 'later' && ++this.#failures < ATTEMPTS_MAX) {
        this.#flushLater();
        return;
      }
      this.#queue = this.#queue.slice(batch.length);
      this.#failures = 0;
      if (outcome !== 'taken') this.#drop(batch.length);
    }
  }

  #drop(count: number): void {
    this.#dropped += count;
    this.#options.onWarning?.(`The collector of traces did not take ${count} spans.`);
  }

  async #send(spans: readonly JsonObject[]): Promise<'taken' | 'later' | 'refused'> {
    const { authorization, version } = this.#options;
    const scopeSpans = [{ scope: { name: 'subluminal.gateway', version }, spans }];
    const resource = {
      attributes: attributes({ 'service.name': 'subluminal-gateway', 'service.version': version }),
    };
    try {
      const { statusCode, body } = await request(this.#url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(authorization === undefined ? {} : { authorization }),
        },
        body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }),
        signal: AbortSignal.timeout(this.#limits.timeoutMs),
      });
      body.on('error', () => undefined);
      body.destroy();
      if (statusCode >= 200 && statusCode < 300) return 'taken';
      return RETRIED.has(statusCode) ? 'later' : 'refused';
    } catch {
      return 'later';
    }
  }
}

function otlpSpan(span: TurnSpan): JsonObject {
  return {
    traceId: span.traceId.replaceAll('-', ''),
    spanId: randomBytes(SPAN_ID_BYTES).toString('hex'),
    name: `chat ${span.requestModel}`,
    kind: KIND_CLIENT,
    startTimeUnixNano: `${Math.trunc(span.startMs)}000000`,
    endTimeUnixNano: `${Math.trunc(span.endMs)}000000`,
    attributes: attributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': span.provider,
      'gen_ai.request.model': span.requestModel,
      'gen_ai.response.model': span.responseModel,
      'gen_ai.usage.input_tokens': span.inputTokens,
      'gen_ai.usage.output_tokens': span.outputTokens,
      'server.address': span.serverAddress,
      'error.type': span.errorType,
    }).concat(finishReasons(span.finishReason), attributes(span.attributes, 'subluminal.')),
    status: span.errorType === undefined ? {} : { code: STATUS_ERROR },
  };
}

function finishReasons(reason: string | undefined): readonly JsonObject[] {
  if (reason === undefined) return [];
  const values = [{ stringValue: reason }];
  return [{ key: 'gen_ai.response.finish_reasons', value: { arrayValue: { values } } }];
}

function attributes(
  values: { readonly [name: string]: string | number | boolean | undefined },
  prefix = '',
): JsonObject[] {
  return Object.entries(values).flatMap(([name, value]): JsonObject[] => {
    if (value === undefined) return [];
    return [{ key: prefix + name, value: attributeValue(value) }];
  });
}

/** OTLP writes 64-bit integers as strings. */
function attributeValue(value: string | number | boolean): JsonObject {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
