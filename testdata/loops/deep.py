"""Loops that cannot be skipped, with a loop deep inside that would be entered again and again."""


def search(grid):
    for plane in grid:
        for row in plane:
            for cell in row:
                for value in cell:
                    visit(value)
                if found(cell):
                    return cell


for attempt in range(3):
    print(search(make_grid(attempt)))
