// The headers of 2026-07-28 that mirror the body of a request, and the annotations of tools that they come from.
import type { OutgoingHttpHeaders } from 'node:http';
import { isFailure } from '@subluminal/contracts';
import { memberText } from '@subluminal/core/json';
import {
  HEADER_MISMATCH,
  mirroredName,
  standardHeaders,
  ToolHeaders,
} from '@subluminal/core/mirrored-headers';
import { visible } from '@subluminal/core/visible';
import { CallAbort, isFault } from '../../../os/upstream/index.ts';
import { decodeBytes } from '../stdio/index.ts';
import { answeredIds, seenIn } from './message-facts.ts';
import { type OutgoingMessage, wholeBytes } from './open-requests.ts';
import type { HttpRefusal } from './refusal.ts';
import { followCursor, isEventStream, newCursor, POST_HEADERS, type WireParts } from './wire.ts';

/** No request of an agent has this id: it is ours, and its answer goes nowhere. */
const LIST_ID = '"subluminal-list-tools"';
const LIST_MS = 30_000;
const PAGES_MAX = 100;

export class ModernHeaders {
  readonly #parts: WireParts;
  readonly #tools = new ToolHeaders();
  /** The revision of the latest request. */
  #version: string | undefined;

  constructor(parts: WireParts) {
    this.#parts = parts;
  }

  headersFor(message: OutgoingMessage): OutgoingHttpHeaders {
    const { facts } = message;
    const { method = '' } = facts;
    this.#version = facts.version ?? this.#version;
    const bytes = wholeBytes(message);
    const name = bytes === undefined ? facts.name : mirroredName(bytes, method, facts.name);
    const headers = [...(standardHeaders(method, name) ?? [])];
    const isMirrored = name !== undefined && this.#tools.mirrors(name);
    if (method === 'tools/call' && bytes !== undefined && isMirrored) {
      const seen = seenIn(bytes);
      const args = seen.kind === 'request' ? seen.params.args : undefined;
      headers.push(...this.#tools.headersFor({ tool: name, bytes, args }));
    }
    return { ...Object.fromEntries(headers), 'MCP-Protocol-Version': this.#version };
  }

  /** Why a call can't be sent: it is too large to be read before its headers. */
  refusalOf({ facts, body }: OutgoingMessage): HttpRefusal | undefined {
    if (facts.method !== 'tools/call' || wholeBytes({ body }) !== undefined) return undefined;
    const text = this.#tools.checkLarge(facts.name);
    if (text === undefined) return undefined;
    return { text, error: JSON.stringify({ code: HEADER_MISMATCH, message: text }) };
  }

  /** Learns from an answer to `tools/list`; the same without tools whose annotations break the rules. */
  learn(answer: Uint8Array): Uint8Array {
    const { bytes, invalid } = this.#tools.learn(answer, decodeBytes);
    for (const { name, reason } of invalid) {
      this.#parts.warn('a tool of the server is left out', { tool: visible(name, 100), reason });
    }
    return bytes;
  }

  /** Lists the tools when the server misses headers of a call; true when the call may be sent again. */
  async relearn(message: OutgoingMessage, { code }: HttpRefusal): Promise<boolean> {
    const { facts } = message;
    const bytes = wholeBytes(message);
    if (code !== HEADER_MISMATCH || facts.method !== 'tools/call' || bytes === undefined) {
      return false;
    }
    const params = memberText(Buffer.from(bytes).toString(), 'params');
    const meta = params === undefined ? undefined : memberText(params, '_meta');
    if (meta === undefined) return false;
    let cursor: string | undefined;
    for (let page = 0; page < PAGES_MAX; page++) {
      const answer = await this.#list(meta, cursor);
      if (answer === undefined) return false;
      this.learn(answer);
      const result = memberText(Buffer.from(answer).toString(), 'result');
      cursor = result === undefined ? undefined : memberText(result, 'nextCursor');
      if (cursor === undefined) return result !== undefined;
    }
    return false;
  }

  async #list(meta: string, cursor: string | undefined): Promise<Uint8Array | undefined> {
    const { client, inbox, url } = this.#parts;
    const at = cursor === undefined ? '' : `,"cursor":${cursor}`;
    const text = `{"jsonrpc":"2.0","id":${LIST_ID},"method":"tools/list","params":{"_meta":${meta}${at}}}`;
    const abort = new CallAbort();
    const timer = setTimeout(() => abort.abort(), LIST_MS).unref();
    const answer = await client.send({
      method: 'POST',
      url,
      headers: {
        ...POST_HEADERS,
        'MCP-Protocol-Version': this.#version,
        'Mcp-Method': 'tools/list',
      },
      body: [Buffer.from(text)],
      timeoutMs: LIST_MS,
      signal: abort,
    });
    if (isFailure(answer) || isFault(answer)) return undefined;
    let found: Uint8Array | undefined;
    await inbox.read(answer.body, {
      take: (bytes) => {
        if (answeredIds(bytes).includes(LIST_ID)) {
          found = bytes;
          // Its stream may stay open.
          abort.abort();
        }
        return undefined;
      },
      ...(isEventStream(answer.headers['content-type']) && { events: followCursor(newCursor()) }),
    });
    clearTimeout(timer);
    return found;
  }
}
