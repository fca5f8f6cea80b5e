export { connectRemote, type RemoteStart, readRemote } from './remote-server.ts';
