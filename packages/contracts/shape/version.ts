/** The version of the interface pack that this package speaks. */
export const PACK_VERSION = '0.2.0';
