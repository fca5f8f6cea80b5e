// The parts of hoodiecrow-imap that the tests use.
declare module 'hoodiecrow-imap' {
  import type { Server } from 'node:net';

  export interface HoodiecrowMessage {
    readonly raw: string | Buffer;
    readonly uid: number;
    readonly flags: readonly string[];
  }
  export interface HoodiecrowFolder {
    readonly path: string;
    readonly messages: HoodiecrowMessage[];
  }
  export interface Hoodiecrow {
    readonly server: Server;
    getMailbox(path: string): HoodiecrowFolder | undefined;
    appendMessage(
      folder: HoodiecrowFolder,
      flags: readonly string[],
      date: false,
      raw: string,
    ): unknown;
  }
  export default function hoodiecrow(options: object): Hoodiecrow;
}
