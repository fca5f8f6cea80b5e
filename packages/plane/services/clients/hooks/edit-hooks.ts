// Puts our hooks into the settings of a client and takes them out again. Pure: a text in, a text out, and
// checked by reading it.
import { isObject } from '@subluminal/contracts';
import { type ConfigDocument, readDocument } from '../text/document.ts';
import { applyEdits, removeValue } from '../text/edits.ts';
import { insertItem, insertProperty, removeItem } from '../text/json-items.ts';
import { sameData } from '../text/plain-data.ts';
import type { Edit, Format, ValuePath } from '../types.ts';
import { type ReadHook, readHookCommand } from './hook-command.ts';
import type { ClientHooks } from './types.ts';

export interface HookText {
  readonly text: string;
  readonly format: Format;
}

export type EditedHooks =
  | {
      readonly kind: 'edited';
      readonly text: string /** Of events. */;
      readonly taken: readonly string[];
    }
  /** A sentence. */
  | { readonly kind: 'refused'; readonly why: string };

const HOOKS = 'hooks';

/** One of our handlers, and where it stands. */
export interface FoundHook extends ReadHook {
  readonly event: string;
  readonly item: ValuePath;
  readonly handler: ValuePath;
  readonly command: string;
}

/** Every handler that starts a `sub hook` of this client, not those of single sessions. */
export function findHooks(
  { value }: Pick<ConfigDocument, 'value'>,
  hooks: ClientHooks,
): readonly FoundHook[] {
  const events = isObject(value) && isObject(value[HOOKS]) ? value[HOOKS] : {};
  return Object.entries(events).flatMap(([event, items]) =>
    (Array.isArray(items) ? items : []).flatMap((item: unknown, index): readonly FoundHook[] =>
      hooks.settings.handlersIn(item).flatMap(({ command, path }) => {
        const read = readHookCommand(command);
        if (read?.client !== hooks.client || read.socket !== undefined) return [];
        const at = [HOOKS, event, index];
        return [{ ...read, event, item: at, handler: [...at, ...path], command }];
      }),
    ),
  );
}

/** Behind the hooks that are there already. */
export function addHooks(
  { text, format }: HookText,
  hooks: ClientHooks,
  command: string,
): EditedHooks {
  const items = hooks.settings.items(command);
  const { beside } = hooks.settings;
  if (text.trim() === '') {
    const events = Object.entries(items).map(([event, item]) => [event, [item]] as const);
    const settings = { ...beside, [HOOKS]: Object.fromEntries(events) };
    return { kind: 'edited', text: `${JSON.stringify(settings, null, 2)}\n`, taken: [] };
  }
  const editor = editorOf({ text, format });
  if ('kind' in editor) return editor;
  const misfit = misfitIn(editor.document().value, Object.keys(items));
  if (misfit !== undefined) return { kind: 'refused', why: misfit };
  for (const [key, value] of Object.entries(beside)) {
    if (editor.at([key]) === undefined) editor.setValue([key], value);
  }
  if (editor.at([HOOKS]) === undefined) editor.setValue([HOOKS], {});
  for (const [event, item] of Object.entries(items)) {
    if (editor.at([HOOKS, event]) === undefined) editor.setValue([HOOKS, event], [item]);
    else editor.push([HOOKS, event], item);
  }
  return editor.done([]);
}

/** What the client would not read as hooks. */
function misfitIn(value: unknown, events: readonly string[]): string | undefined {
  if (!isObject(value)) return 'it is no object.';
  const hooks = value[HOOKS];
  if (hooks === undefined) return undefined;
  if (!isObject(hooks)) return '`hooks` is no object.';
  const odd = events.find((event) => hooks[event] !== undefined && !Array.isArray(hooks[event]));
  return odd === undefined ? undefined : `\`hooks.${odd}\` is no list.`;
}

/** What was there before ours stays; of what is empty then, only what we had made goes. */
export function removeHooks(
  { text, format }: HookText,
  hooks: ClientHooks,
  base = '',
): EditedHooks {
  if (text.trim() === '') return { kind: 'edited', text, taken: [] };
  const editor = editorOf({ text, format });
  if ('kind' in editor) return editor;
  const had = baseValue(base, format);
  const found = findHooks(editor.document(), hooks);
  // From the last to the first, so that no place moves.
  for (const { item, handler } of found.toReversed()) {
    const isWhole = handler.length === item.length;
    if (!isWhole) editor.remove(handler);
    if (isWhole || isEmpty(editor.at(handler.slice(0, -1)))) editor.remove(item);
  }
  const taken = [...new Set(found.map(({ event }) => event))];
  for (const event of taken) {
    const isOurs = !hasKey(had, [HOOKS, event]);
    if (isOurs && isEmpty(editor.at([HOOKS, event]))) editor.remove([HOOKS, event]);
  }
  const isEmptied = taken.length > 0 && isEmpty(editor.at([HOOKS]));
  if (isEmptied && !hasKey(had, [HOOKS])) editor.remove([HOOKS]);
  // With hooks of others, the file still needs it.
  const isBack = sameData(editor.at([HOOKS]), valueIn(had, [HOOKS]));
  for (const [key, value] of Object.entries(hooks.settings.beside)) {
    if (isBack && !hasKey(had, [key]) && editor.at([key]) === value) editor.remove([key]);
  }
  return editor.done(taken);
}

/** Takes a text out that stands there once, as it was put in; elsewhere it is not ours any more. */
export function removeBlock({ text, format }: HookText, block: string): EditedHooks {
  const at = text.indexOf(block);
  if (at === -1 || text.includes(block, at + 1)) return { kind: 'edited', text, taken: [] };
  const rest = text.slice(0, at) + text.slice(at + block.length);
  const read = readDocument(rest, format);
  if (read.kind === 'document' || rest.trim() === '') {
    return { kind: 'edited', text: rest, taken: [HOOKS] };
  }
  return { kind: 'refused', why: 'without what we have added it could not be read.' };
}

function baseValue(base: string, format: Format): unknown {
  const read = base.trim() === '' ? undefined : readDocument(base, format);
  return read?.kind === 'document' ? read.document.value : undefined;
}

function hasKey(value: unknown, path: readonly string[]): boolean {
  const [key = '', ...rest] = path;
  if (!isObject(value) || !Object.hasOwn(value, key)) return false;
  return rest.length === 0 || hasKey(value[key], rest);
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** Makes one change after the other, in the text and in a copy of what it says. */
interface Editor {
  document(): ConfigDocument;
  at(path: ValuePath): unknown;
  setValue(path: ValuePath, value: unknown): void;
  push(path: ValuePath, value: unknown): void;
  remove(path: ValuePath): void;
  done(taken: readonly string[]): EditedHooks;
}

function editorOf({ text, format }: HookText): Editor | Extract<EditedHooks, { kind: 'refused' }> {
  const read = readDocument(text, format, [[HOOKS]]);
  if (read.kind === 'broken') {
    const { line, column, message } = read;
    return { kind: 'refused', why: `it is broken at line ${line}, column ${column}: ${message}` };
  }
  let current: ConfigDocument | undefined = read.document;
  const expected: unknown = structuredClone(read.document.value);
  const apply = (makeEdit: (document: ConfigDocument) => Edit): void => {
    if (current === undefined) return;
    const next = readDocument(applyEdits(current.text, [makeEdit(current)]), format, [[HOOKS]]);
    current = next.kind === 'document' ? next.document : undefined;
  };
  const holder = (path: ValuePath) => valueIn(expected, path.slice(0, -1));
  return {
    document: () => read.document,
    at: (path) => valueIn(expected, path),
    setValue(path, value) {
      const into = holder(path);
      if (isObject(into)) Reflect.set(into, String(path.at(-1)), structuredClone(value));
      apply((document) => insertProperty(document, path, value));
    },
    push(path, value) {
      const list = valueIn(expected, path);
      if (Array.isArray(list)) list.push(structuredClone(value));
      apply((document) => insertItem(document, path, value));
    },
    remove(path) {
      const [from, last] = [holder(path), path.at(-1)];
      if (Array.isArray(from)) from.splice(Number(last), 1);
      else if (isObject(from)) Reflect.deleteProperty(from, String(last));
      const isItem = typeof last === 'number';
      apply((document) => (isItem ? removeItem(document, path) : removeValue(document, path)));
    },
    done(taken) {
      if (current === undefined || !sameData(current.value, expected)) {
        return { kind: 'refused', why: 'the result would not be what it should.' };
      }
      return { kind: 'edited', text: current.text, taken };
    },
  };
}

function valueIn(top: unknown, path: ValuePath): unknown {
  let value = top;
  for (const step of path) {
    if (Array.isArray(value)) value = value[Number(step)];
    else value = isObject(value) ? value[String(step)] : undefined;
  }
  return value;
}
