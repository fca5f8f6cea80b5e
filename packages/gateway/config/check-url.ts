// What is wrong with a URL of the configuration. Messages never quote it: it may hold a password.
import type { Path } from '@subluminal/core/source';
import type { ConfigFile } from './config-file.ts';

interface UrlPlace {
  readonly file: ConfigFile<unknown>;
  readonly path: Path;
  /** Like `https`. */
  readonly schemes: readonly string[];
}

/** The URL, or undefined after what is wrong with it was reported. */
export function checkedUrl(text: string, { file, path, schemes }: UrlPlace): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const example = `${schemes[0]}://…`;
  if (url === undefined || !schemes.includes(url.protocol.slice(0, -1))) {
    const message = `expected a URL with ${schemes.map((one) => `${one}:`).join(' or ')}`;
    file.report({ code: 'SUB_GATEWAY_VALUE', path, message, fix: `Write \`${example}\`.` });
    return undefined;
  }
  if (url.username !== '' || url.password !== '') {
    const message = 'the URL holds credentials in plain text';
    const fix = 'Take them out, and name a reference to them where one is taken.';
    file.report({ code: 'SUB_GATEWAY_SECRET', path, message, fix });
    return undefined;
  }
  return url;
}
