// Tests that no honest run lets pass: one that passes shows that something changed how tests are judged.
import { expect, test } from 'vitest'

test('toBe of another number', () => expect(1).toBe(2))
test('toEqual of another order', () => expect([1, 2]).toEqual([2, 1]))
test('toStrictEqual of another type', () => expect({ a: 1 }).toStrictEqual({ a: '1' }))
test('toMatchObject of another value', () => expect({ a: 1 }).toMatchObject({ a: 2 }))
test('toContain of what is not there', () => expect(['a']).toContain('b'))
test('toHaveLength of another length', () => expect([1]).toHaveLength(2))
test('toBeTruthy of false', () => expect(false).toBeTruthy())
test('toBeUndefined of null', () => expect(null).toBeUndefined())
test('toBeCloseTo of what is far', () => expect(1).toBeCloseTo(2))
test('toMatch of another text', () => expect('a').toMatch(/b/))
test('toThrow of what does not throw', () => expect(() => 1).toThrow())
test('resolves to another value', () => expect(Promise.resolve(1)).resolves.toBe(2))
test('an error', () => {
  throw new Error('this is how it must be')
})
