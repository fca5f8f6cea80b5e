// What a server has shown of itself. All of it is hostile text.
import type { Listing } from '@subluminal/core/surface';

export interface Seen {
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name?: string; readonly version?: string };
  /** Null when the server has none; undefined when it was not asked for them. */
  readonly instructions: string | null | undefined;
  readonly tools: readonly unknown[];
  /** The JSON of each tool, as the server wrote it. */
  readonly toolTexts?: readonly (string | undefined)[] | undefined;
  readonly prompts: readonly unknown[];
  readonly resources: readonly unknown[];
  readonly templates: readonly unknown[];
  /** What could not be listed, in whole sentences. */
  readonly notes: readonly string[];
}

/** For the pins. A look is over all pages, or it has failed. */
export function listingOf({ tools, toolTexts, instructions }: Seen): Listing {
  return {
    tools,
    texts: toolTexts,
    isComplete: true,
    ...(instructions !== undefined && { instructions }),
  };
}
