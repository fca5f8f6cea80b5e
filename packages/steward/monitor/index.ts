export { Monitor } from './monitor.ts';
