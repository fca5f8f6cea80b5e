/** The version of the interface pack that this package speaks. */
const PACK_VERSION = '0.2.0';

export { PACK_VERSION };
