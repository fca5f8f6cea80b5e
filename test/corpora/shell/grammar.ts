// A second reader of command lines, written by others: the grammar of tree-sitter. It judges ours.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Language, type Node, Parser } from 'web-tree-sitter';

const require = createRequire(import.meta.url);

/** Gives the names of the programs that stand in a line; none where the grammar cannot read it. */
export async function grammarPrograms(): Promise<(line: string) => readonly string[]> {
  await Parser.init();
  const grammar = readFileSync(require.resolve('tree-sitter-bash/tree-sitter-bash.wasm'));
  const parser = new Parser();
  parser.setLanguage(await Language.load(new Uint8Array(grammar)));
  return (line) => {
    const tree = parser.parse(line);
    const root = tree?.rootNode;
    if (root === undefined || root.hasError) return [];
    const names = root.descendantsOfType('command_name').flatMap((node) => nameIn(node) ?? []);
    tree?.delete();
    return names;
  };
}

/** The name of a program, where it is written as one plain word. */
function nameIn(node: Node | null): string | undefined {
  const word = node?.firstNamedChild;
  if (word?.type !== 'word' || word.namedChildCount > 0 || /[\\*?[\]{}]/.test(word.text))
    return undefined;
  return word.text.slice(word.text.lastIndexOf('/') + 1);
}
