// The half of a session that the page keeps. The other half is a cookie that scripts cannot read; a browser
// sends cookies to every port of a host, but keeps this storage apart by port.
const NAME = 'sub.page';

export function pageToken(): string {
  return globalThis.localStorage.getItem(NAME) ?? '';
}

export function keepPageToken(token: string): void {
  globalThis.localStorage.setItem(NAME, token);
}

export function dropPageToken(): void {
  globalThis.localStorage.removeItem(NAME);
}
