import type { RequestListener } from 'node:http';

export function serve(listener: RequestListener): void;
export function tellUsage(address: { readonly url: string; readonly key?: string }): void;
