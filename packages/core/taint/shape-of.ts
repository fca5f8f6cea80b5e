// What a value is a sink for by its look alone: the whole of it is an address or a path.
import { emailsIn } from './tokens/address.ts';
import { folded } from './tokens/fold.ts';
import { looksLikeHost } from './tokens/host.ts';
import { isRooted } from './tokens/path.ts';
import type { SinkKind } from './types.ts';

const LENGTH_MAX = 4_096;

export function shapesOf(value: string): ReadonlySet<SinkKind> {
  const shapes = new Set<SinkKind>();
  // How a value begins tells what it is.
  const text = folded(value.slice(0, LENGTH_MAX))
    // Those who read addresses leave breaks out.
    .replace(/[\t\r\n]+/g, '')
    .trim();
  if (/\s/.test(text)) {
    // `Eve <eve@evil.example>`, and lists of such.
    if (/^[^<>]{0,200}<[^<>\s]{3,320}>[,;]?/.test(text) && emailsIn(text).length > 0) {
      shapes.add('recipient');
    }
    return shapes;
  }
  if (emailsIn(text).length > 0 && !text.includes('//')) shapes.add('recipient');
  if (/^[a-z][a-z0-9+.-]{1,20}:[/\\]{2}|^\/\/|^(?:h(?:tt|xx)ps?|wss?|ftp):|%2f%2f/i.test(text))
    shapes.add('url');
  else if (looksLikeHost(text) || /^[^/]{3,253}\//.test(text)) {
    const [host = ''] = text.split('/', 1);
    if (looksLikeHost(host) && text.includes('/')) shapes.add('url');
  }
  if (isRooted(text)) shapes.add('path');
  return shapes;
}
