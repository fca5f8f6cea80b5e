import type { RequestListener } from 'node:http';

export function serve(listener: RequestListener): void;
