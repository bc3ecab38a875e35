"""How much of a text was changed (S4), in plain Python."""


def units(text: str) -> int:
    """JavaScript's length."""
    return len(text.encode("utf-16-le")) // 2


def changed_and_total(before: str, after: str) -> tuple[int, int]:
    """S4 in plain Python: the table of common subsequences, and the way back through it that diffChars takes.

    It adds as long as that costs nothing, else removes if that costs nothing, else leaves what is equal.
    """
    table = [[0] * (len(after) + 1)]
    for letter in before:
        above, row = table[-1], [0]
        for column, other in enumerate(after):
            row.append(above[column] + 1 if letter == other else max(above[column + 1], row[column]))
        table.append(row)
    x, y, common = len(before), len(after), 0
    while x and y:
        if table[x][y - 1] == table[x][y]:
            y -= 1
        elif table[x - 1][y] == table[x][y]:
            x -= 1
        else:
            x, y = x - 1, y - 1
            common += units(before[x])
    changed = units(before) + units(after) - 2 * common
    return changed, common + changed
