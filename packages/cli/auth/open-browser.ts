// Opens an address in the browser of this machine, if there is one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findProgram } from '@subluminal/plane/os';

const LAUNCHERS: { readonly [platform: string]: readonly string[] } = {
  darwin: ['open'],
  linux: ['xdg-open', 'wslview'],
  win32: ['explorer'],
};

/** False where none could be started. BROWSER names another one. */
export async function openBrowser(
  url: string,
  env: { readonly [name: string]: string | undefined } = process.env,
): Promise<boolean> {
  const named = env['BROWSER'];
  const words = named ? [named] : (LAUNCHERS[process.platform] ?? []);
  const place = { cwd: process.cwd(), path: env['PATH'] };
  const program = words.flatMap((word) => findProgram(word, place) ?? [])[0];
  if (program === undefined) return false;
  const hasDisplay = env['DISPLAY'] || env['WAYLAND_DISPLAY'] || process.platform !== 'linux';
  if (!named && !hasDisplay) return false;
  const child = spawn(program, [url], { detached: true, stdio: 'ignore' });
  const isStarted = await once(child, 'spawn').then(
    () => true,
    () => false,
  );
  child.unref();
  return isStarted;
}
