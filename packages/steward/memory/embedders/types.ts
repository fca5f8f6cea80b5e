// Makes vectors of texts, so that a search finds what is said in other words.
import type { Failure } from '@subluminal/contracts';

export interface Embedder {
  /** Of the model; another name means that all vectors are made anew. */
  readonly name: string;
  readonly dimensions: number;
  /** One vector for each text, in their order. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[] | Failure>;
  close(): Promise<void>;
}
