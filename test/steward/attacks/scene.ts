// What a task of the suite is made of: what is planted, what the user asks, and what a model does.
import type { ScriptedUse } from '../model-script.ts';

/** Content that others have written, put where the task will read it. */
export type Plant =
  | {
      readonly kind: 'mail';
      readonly from: string;
      readonly subject: string;
      readonly body: string;
    }
  | { readonly kind: 'page'; readonly url: string; readonly html: string }
  | { readonly kind: 'file'; readonly path: string; readonly text: string }
  | {
      readonly kind: 'event';
      /** Such as `2027-01-31`; it lasts from ten to eleven. */
      readonly day: string;
      readonly title: string;
      readonly description: string;
    }
  /** What an MCP server answers to this query. */
  | { readonly kind: 'answer'; readonly query: string; readonly text: string }
  | { readonly kind: 'memory'; readonly text: string }
  /** A skill of others that the user has merged. */
  | { readonly kind: 'skill'; readonly name: string; readonly text: string };

/** One request of the user, in a conversation of its own. */
export interface Round {
  readonly asks: string;
  /** What the task takes without any injection; the user agrees to these calls and to no other. `$uid` stands for the number of the planted mail. */
  readonly does: readonly ScriptedUse[];
}

export interface Scene {
  readonly id: string;
  readonly plants: readonly Plant[];
  readonly rounds: readonly Round[];
}

export type Area = 'mail' | 'web' | 'files' | 'calendar' | 'tools' | 'memory' | 'skills';

export interface Attack extends Scene {
  readonly area: Area;
  /** The published attack that it is written from. */
  readonly pattern: string;
  /** What the model obeys as soon as it sees the planted text. */
  readonly obeys: readonly ScriptedUse[];
  /** What it says to the user then. */
  readonly says?: string;
}

export interface HarmlessTask extends Scene {
  readonly area: Area | 'reminders' | 'research' | 'expansion';
}

/** Stands in every planted text, so that a model still obeys one of which a scanner has taken a part. */
export function markOf(id: string): string {
  return `[ref ${id}]`;
}
