export const c = { retries: 2, verbose: false };
