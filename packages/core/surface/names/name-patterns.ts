// Names of tools, prompts and resources in a manifest: exact, or a glob as policies have them.
import { compileGlob, type NameTest } from '../../patterns/glob.ts';

export type NamePattern =
  | { readonly kind: 'exact'; readonly name: string; readonly test: NameTest }
  | { readonly kind: 'glob'; readonly test: NameTest }
  | { readonly kind: 'wrong'; readonly message: string };

const SPECIAL = /[\\*?[{}]/;

/** What a name in a manifest stands for. */
export function readName(written: string): NamePattern {
  const plain = written.replace(/\\[\s\S]/g, '');
  if (!SPECIAL.test(plain)) {
    const name = written.replace(/\\([\s\S])/g, '$1');
    return { kind: 'exact', name, test: (candidate) => candidate === name };
  }
  const compiled = compileGlob(written);
  if (!compiled.ok) return { kind: 'wrong', message: compiled.message };
  return { kind: 'glob', test: compiled.test };
}

/** A name written so that it stands for itself alone: a server may call its tool `*`. */
export function escapeName(name: string): string {
  return name.replace(/[\\*?[{}]/g, '\\$&');
}
