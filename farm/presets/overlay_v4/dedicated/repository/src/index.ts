export const x = 41 + 1;
