// The id of a message that is too large to be read whole. It stands at its beginning, or at its end, where the
// official SDKs write it: what closes the message comes right behind it, so it is the id of the message itself.

const ID = String.raw`(-?\d{1,16}|"(?:[^"\\]|\\.){0,256}")`;
const FIRST = new RegExp(
  String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*${ID}\s*,`,
);
const LAST = new RegExp(String.raw`"id"\s*:\s*${ID}\s*\}\s*$`);
const BYTES_MAX = 768;

/** The JSON of the id that a message begins with. */
export function firstId(head: Uint8Array): string | undefined {
  return FIRST.exec(textOf(head.subarray(0, BYTES_MAX)))?.[1];
}

/** Gets all parts of a message, and keeps the end. */
export class LastId {
  #tail: Uint8Array = new Uint8Array(0);

  add(part: Uint8Array): void {
    const bytes = part.length >= BYTES_MAX ? part : Buffer.concat([this.#tail, part]);
    // A copy: a part may belong to a large buffer.
    this.#tail = Buffer.from(bytes.subarray(-BYTES_MAX));
  }

  get json(): string | undefined {
    return LAST.exec(textOf(this.#tail))?.[1];
  }
}

function textOf({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString();
}
