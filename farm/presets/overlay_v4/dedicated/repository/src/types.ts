export interface Foo { id: number; label: string }
