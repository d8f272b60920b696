export function recipients(addresses: string[]): string[] {
  return addresses;
}
