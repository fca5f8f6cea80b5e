// A provider: how one vendor's endpoints are addressed. One folder each, with the same files.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { Endpoint, ProviderName } from '@subluminal/core/routing';
import type { WireName } from '@subluminal/core/wires';

export interface UpstreamTarget {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly deployment?: string;
  readonly kind: 'answer' | 'count_tokens' | 'models';
  readonly wire: WireName;
  /** The query of the client, without its `?`. */
  readonly query: string;
}

export interface Provider {
  readonly name: ProviderName;
  /** The wires that it speaks, the best first: a turn of one of them passes through untranslated. */
  readonly wires: (endpoint: Endpoint) => readonly WireName[];
  readonly hasCountTokens: boolean;
  url(target: UpstreamTarget): string;
  /** The headers that go upstream: credentials, version, the betas that it knows; nothing else of the client's. */
  headers(from: IncomingHttpHeaders, key: string | undefined): OutgoingHttpHeaders;
}
