// What all commands of a call would do.
import type { JsonObject } from '@subluminal/contracts';
import { commandsInArgs, type ToolNames } from './command-args.ts';
import { type CommandOutline, type OpaquePart, outlineCommand } from './outline.ts';

export const EMPTY_OUTLINE: CommandOutline = {
  programs: [],
  reads: [],
  trees: [],
  writes: [],
  removes: [],
  puts: [],
  hosts: [],
  paths: [],
  opaque: [],
};
const TEXT_LENGTH_MAX = 120;

/** All commands of a call as one; undefined for a call that runs none. */
export function outlineCall(tool: ToolNames, args: JsonObject): CommandOutline | undefined {
  const { commands, isWhole } = commandsInArgs(tool, args);
  if (commands.length === 0 && isWhole) return undefined;
  const outlines = commands.map(({ line, folders, isObscured }) => {
    const outline = outlineCommand(line);
    const files = { ...outline, programs: [], hosts: [], opaque: [] };
    const placed = joined(
      folders.map((folder, index) => placedIn(folder, index === 0 ? outline : files)),
    );
    const text = line.slice(0, TEXT_LENGTH_MAX);
    const opaque: readonly OpaquePart[] = [
      ...placed.opaque,
      ...(isObscured ? [{ why: 'unreadable', text } as const] : []),
      ...(args['tty'] === true ? [{ why: 'terminal', text } as const] : []),
    ];
    return opaque.length === placed.opaque.length ? placed : { ...placed, opaque };
  });
  const rest = { why: 'too_large', text: '…' } as const;
  return joined(isWhole ? outlines : [...outlines, { ...EMPTY_OUTLINE, opaque: [rest] }]);
}

function joined(outlines: readonly CommandOutline[]): CommandOutline {
  const [only, more] = outlines;
  if (only !== undefined && more === undefined) return only;
  return {
    programs: outlines.flatMap(({ programs }) => programs),
    reads: outlines.flatMap(({ reads }) => reads),
    trees: outlines.flatMap(({ trees }) => trees),
    writes: outlines.flatMap(({ writes }) => writes),
    removes: outlines.flatMap(({ removes }) => removes),
    puts: outlines.flatMap(({ puts }) => puts),
    hosts: outlines.flatMap(({ hosts }) => hosts),
    paths: outlines.flatMap(({ paths }) => paths),
    opaque: outlines.flatMap(({ opaque }) => opaque),
  };
}

/** A command that runs in another folder names its files from there. */
function placedIn(folder: string | undefined, outline: CommandOutline): CommandOutline {
  if (folder === undefined) return outline;
  const place = (path: string) => (/^[/~$]/.test(path) ? path : `${folder}/${path}`);
  const { reads, trees, writes, removes, puts, paths } = outline;
  return {
    ...outline,
    reads: reads.map(place),
    trees: trees.map(place),
    writes: writes.map(place),
    removes: removes.map(place),
    puts: puts.map(({ from, to }) => ({ from: from && place(from), to: place(to) })),
    paths: paths.map(place),
  };
}
