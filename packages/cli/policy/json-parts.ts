// Cuts canonical JSON into the texts of its members. Values keep every digit that way, which
// parsing them into JavaScript numbers would not.

/** The texts of an array's items. The text must be canonical, so there is no white space. */
export function itemTexts(array: string): readonly string[] {
  return partsOf(array).map(([start, end]) => array.slice(start, end));
}

/** The text of one member of an object, or undefined when it has none of that name. */
export function memberText(object: string, name: string): string | undefined {
  const prefix = `${JSON.stringify(name)}:`;
  const part = partsOf(object).find(([start]) => object.startsWith(prefix, start));
  return part && object.slice(part[0] + prefix.length, part[1]);
}

/** Where the parts between the outermost commas begin and end. */
function partsOf(text: string): readonly (readonly [number, number])[] {
  const parts: [number, number][] = [];
  let depth = 0;
  let start = 1;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (char === '"') index = stringEnd(text, index);
    else if (char === '[' || char === '{') depth++;
    else if (char === ']' || char === '}') depth--;
    else if (char === ',' && depth === 1) {
      parts.push([start, index]);
      start = index + 1;
    }
  }
  const end = text.length - 1;
  return start < end ? [...parts, [start, end]] : parts;
}

function stringEnd(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index;
}
