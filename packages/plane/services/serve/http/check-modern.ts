// What a request of 2026-07-28 must have, and that its headers say what its body says.
import type { IncomingMessage } from 'node:http';
import {
  checkStandardHeaders,
  HEADER_MISMATCH,
  mirroredName,
} from '@subluminal/core/mirrored-headers';
import { MODERN_VERSION, Outline, type SeenRequest } from '@subluminal/core/session';
import { RPC, type RpcRefusal } from './answers.ts';

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const VERSION_LENGTH_MAX = 64;

export interface ModernRequest {
  readonly bytes: Uint8Array;
  readonly seen: SeenRequest;
}

export function checkModern(
  request: IncomingMessage,
  { bytes, seen }: ModernRequest,
): RpcRefusal | undefined {
  const { method, params } = seen;
  const version = params.metaVersion;
  if (version === undefined) {
    return malformed('io.modelcontextprotocol/protocolVersion is missing in _meta.');
  }
  const name = mirroredName(bytes, method, params.name);
  const mismatch = checkStandardHeaders(request.headersDistinct, { method, name, version });
  if (mismatch !== undefined) return mismatched(mismatch);
  if (version !== MODERN_VERSION) {
    // As `server/discover` has them: the older ones begin with `initialize`.
    const supported = [MODERN_VERSION];
    return {
      status: 400,
      code: RPC.unsupportedVersion,
      message: 'Unsupported protocol version',
      data: { supported, requested: version.slice(0, VERSION_LENGTH_MAX) },
    };
  }
  if (params.hasCapabilities) return undefined;
  return malformed(`${CAPABILITIES} is missing in _meta.`);
}

/** Methods whose requests say at once what they are about; others of this size are nobody's. */
const NAMED: ReadonlySet<string> = new Set(['tools/call', 'prompts/get']);

/** What is known of a large request before its end. */
interface ModernHead {
  /** The tool that it calls. */
  readonly tool: string | undefined;
}

/** The same for a request that is too large to be read whole: what its headers mirror must stand in its first part. */
export function checkModernHead(
  request: IncomingMessage,
  head: Uint8Array,
): RpcRefusal | ModernHead {
  const outline = new Outline();
  outline.feed(head);
  const { method, name, metaVersion } = outline.soFar();
  if (method === undefined || (NAMED.has(method) && name === undefined)) {
    return mismatched('A request of this size must begin with its method and its name.');
  }
  const version = metaVersion ?? request.headersDistinct['mcp-protocol-version']?.[0];
  const mismatch = checkStandardHeaders(request.headersDistinct, { method, name, version });
  if (mismatch !== undefined) return mismatched(mismatch);
  return { tool: method === 'tools/call' ? name : undefined };
}

export function mismatched(message: string): RpcRefusal {
  return { status: 400, code: HEADER_MISMATCH, message };
}

function malformed(why: string): RpcRefusal {
  return { status: 400, code: RPC.invalidParams, message: `Invalid params: ${why}` };
}
