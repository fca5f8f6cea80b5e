// Adds items and properties to JSON and takes items out; every other byte stays as it is.
import type { ConfigDocument } from './document.ts';
import { headOf, lineBreakOf, restOfLine } from './edits.ts';
import { type Edit, nodeAt, type TextSpan, type ValuePath } from './tree.ts';

/** Behind the last item of a list. */
export function insertItem(document: ConfigDocument, path: ValuePath, value: unknown): Edit {
  return insertLast(document, path, (write) => write(value));
}

/** Behind the last property of an object. */
export function insertProperty(document: ConfigDocument, path: ValuePath, value: unknown): Edit {
  const key = JSON.stringify(String(path.at(-1)));
  return insertLast(
    document,
    path.slice(0, -1),
    (write, isTight) => `${key}:${isTight ? '' : ' '}${write(value)}`,
  );
}

type WriteText = (write: (value: unknown) => string, isTight: boolean) => string;

function insertLast(document: ConfigDocument, path: ValuePath, textFor: WriteText): Edit {
  const { text, format } = document;
  const container = containerAt(document, path);
  const last = container.children.at(-1);
  if (last === undefined) return insertFirst(document, container, textFor);
  const behind = container.comma ?? last.end;
  const head = headOf(text, last.start);
  const lineEnd = restOfLine(text, behind, format);
  if (head?.breakBefore === undefined || lineEnd === undefined) {
    const isTight = !/[:,]\s/.test(text.slice(container.start, container.end));
    const space = isTight ? '' : ' ';
    const added = textFor((value) => JSON.stringify(value), isTight);
    const comma = container.comma === undefined;
    return at(behind, comma ? `,${space}${added}` : `${space}${added},`);
  }
  const lineBreak = head.breakBefore.text;
  const added = textFor(lines({ unit: unitOf(document), indent: head.indent, lineBreak }), false);
  const line = `${lineBreak}${head.indent}${added}`;
  if (container.comma !== undefined) return at(lineEnd, `${line},`);
  // The comma goes behind the last one, the line behind the comment that may follow it.
  return { start: behind, end: lineEnd, text: `,${text.slice(behind, lineEnd)}${line}` };
}

/** Between the brackets of what is empty. */
function insertFirst(document: ConfigDocument, { start, end }: TextSpan, textFor: WriteText): Edit {
  const { text } = document;
  if (!/[\r\n]/.test(text.trim()) && text.trim() !== text.slice(start, end)) {
    return at(
      start + 1,
      textFor((value) => JSON.stringify(value), true),
    );
  }
  const [indent, lineBreak, unit] = [indentAt(text, start), lineBreakOf(text), unitOf(document)];
  const inner = `${indent}${unit}`;
  const added = textFor(lines({ unit, indent: inner, lineBreak }), false);
  const close = /[\r\n]/.test(text.slice(start, end)) ? '' : `${lineBreak}${indent}`;
  return at(start + 1, `${lineBreak}${inner}${added}${close}`);
}

function at(offset: number, text: string): Edit {
  return { start: offset, end: offset, text };
}

interface LineStyle {
  readonly unit: string;
  readonly indent: string;
  readonly lineBreak: string;
}

function lines({ unit, indent, lineBreak }: LineStyle): (value: unknown) => string {
  return (value) => JSON.stringify(value, null, unit).replaceAll('\n', `${lineBreak}${indent}`);
}

/** Takes an item out; what `insertItem` has added is gone to the last byte. */
export function removeItem(document: ConfigDocument, path: ValuePath): Edit {
  const { text } = document;
  const index = Number(path.at(-1));
  const { children, start, end, comma } = containerAt(document, path.slice(0, -1));
  const [before, item, after] = [children[index - 1], children[index], children[index + 1]];
  if (item === undefined) throw new Error('There is no such item.');
  if (before !== undefined) {
    const between = text.slice(before.end, item.start);
    // Comments between the two stay.
    const kept = between.replace(',', '').trimEnd();
    return { start: before.end, end: item.end, text: kept };
  }
  if (after !== undefined) {
    const isPlain = /^\s*,\s*$/.test(text.slice(item.end, after.start));
    const until = isPlain ? after.start : text.indexOf(',', item.end) + 1;
    return { start: item.start, end: until, text: '' };
  }
  const until = comma ?? item.end;
  const isAlone = `${text.slice(start + 1, item.start)}${text.slice(until, end - 1)}`.trim() === '';
  return isAlone
    ? { start: start + 1, end: end - 1, text: '' }
    : { start: item.start, end: until, text: '' };
}

interface Container extends TextSpan {
  /** In the order of the text. */
  readonly children: readonly TextSpan[];
  /** Behind the comma that the last child has behind it. */
  readonly comma: number | undefined;
}

function containerAt({ root, text }: ConfigDocument, path: ValuePath): Container {
  const node = nodeAt(root, path);
  if (node === undefined || node.kind === 'scalar' || node.span === undefined) {
    throw new Error('There is nothing to put it in.');
  }
  const { start, end } = node.span;
  if (node.kind === 'list') {
    const children = node.items.flatMap(({ span }) => span ?? []);
    const last = children.at(-1)?.end ?? start;
    const comma = node.hasTrailingComma ? text.indexOf(',', last) + 1 : undefined;
    return { start, end, children, comma };
  }
  const members = [...node.members.values()].flatMap(({ node: { span }, key }) =>
    key === undefined || span === undefined ? [] : [{ key, start: key.start, end: span.end }],
  );
  const children = members.toSorted((a, b) => a.start - b.start);
  const comma = children.at(-1)?.key.between?.comma;
  return { start, end, children, comma: comma === undefined ? undefined : comma + 1 };
}

/** How far the first property of the file is indented. */
function unitOf(document: ConfigDocument): string {
  const [first] = containerAt(document, []).children;
  const head = first && headOf(document.text, first.start);
  return head?.breakBefore !== undefined && head.indent !== '' ? head.indent : '  ';
}

/** Of the line that the offset is in. */
function indentAt(text: string, offset: number): string {
  const lineStart = Math.max(
    text.lastIndexOf('\n', offset - 1),
    text.lastIndexOf('\r', offset - 1),
  );
  return /^[ \t]*/.exec(text.slice(lineStart + 1, offset))?.[0] ?? '';
}
