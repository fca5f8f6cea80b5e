// A file as the rules see it, and what they say about it.
import { type Token, tokenize } from './tokens.ts';

export interface FileText {
  /** Relative to the root of the checkout, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Source extends FileText {
  /** TypeScript or JavaScript; everything else has no tokens. */
  readonly isCode: boolean;
  readonly isTest: boolean;
  /** The folder under `packages/`, if the file is in one. */
  readonly packageName: string | undefined;
  /** Code only: no comments. */
  readonly tokens: readonly Token[];
  readonly comments: readonly Token[];
}

export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

export type Rule = (source: Source) => readonly Finding[];

const CODE = /\.(?:ts|tsx|mts|js|mjs|cjs)$/;
// Besides the tests themselves, `test/` and the `testing/` folders hold what they stand on.
const TEST = /(?:^test\/|\/testing\/|\.test\.[a-z]+$)/;

export function readSource({ path, text }: FileText): Source {
  const isCode = CODE.test(path);
  const all = isCode ? tokenize(text) : [];
  return {
    path,
    text,
    isCode,
    isTest: TEST.test(path),
    packageName: /^packages\/([^/]+)\//.exec(path)?.[1],
    tokens: all.filter(({ kind }) => kind !== 'comment'),
    comments: all.filter(({ kind }) => kind === 'comment'),
  };
}

/** Whether a token is this word or sign of code, not the inside of a string. */
export function isToken(token: Token | undefined, text: string): boolean {
  return (token?.kind === 'word' || token?.kind === 'punct') && token.text === text;
}
